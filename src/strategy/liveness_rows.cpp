#include "strategy/liveness_rows.hpp"

#include "strategy/trying.hpp"

namespace rowlock::inline v1::strategies {

std::vector<answer> liveness_rows::acquire(driver::session& on, std::span<const attempt> batch,
                                           const driver::limits& until) const {
  return try_all(sql(), dialect::verb::hold_while_alive, on, batch, until);
}

}  // namespace rowlock::inline v1::strategies
