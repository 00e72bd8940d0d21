#pragma once

#include "base/recent_names.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// A lease, decided by the unique index on the name: the holder has inserted the row, or taken over a vacant or expired
/// one.
class unique_index final : public algorithm {
 public:
  std::vector<answer> acquire(const store::access& db, std::span<const acquire_args> batch) const override;

 private:
  mutable base::recent_names refused_;
};

}  // namespace rowlock::inline v1::strategies
