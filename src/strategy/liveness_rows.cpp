#include "strategy/liveness_rows.hpp"

#include "strategy/acquire_step.hpp"

namespace rowlock::inline v1::strategies {

std::vector<answer> liveness_rows::acquire(const store::access& db, std::span<const acquire_args> batch) const {
  return try_all(db, sql::verb::hold_while_alive, batch);
}

}  // namespace rowlock::inline v1::strategies
