#pragma once

#include "strategy/lease_rows.hpp"

namespace rowlock::inline v1::strategies {

/// A lease, taken by reading the row and changing it only if it is still of the version that was read. Of two who read
/// the same version one changes it; the other is told nothing and has to read again.
class version_cas final : public lease_rows {
 public:
  using lease_rows::lease_rows;
  std::vector<answer> acquire(driver::session& on, std::span<const attempt> batch,
                              const driver::limits& until) const override;
};

}  // namespace rowlock::inline v1::strategies
