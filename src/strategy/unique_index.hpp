#pragma once

#include "strategy/lease_rows.hpp"

namespace rowlock::inline v1::strategies {

/// A lease, decided by the unique index on the name: whoever inserts the row, or takes over a vacant or expired one.
class unique_index final : public lease_rows {
 public:
  using lease_rows::lease_rows;
  std::vector<answer> acquire(driver::session& on, std::span<const attempt> batch,
                              const driver::limits& until) const override;
};

}  // namespace rowlock::inline v1::strategies
