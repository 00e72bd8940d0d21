#pragma once

#include "core/recent_names.hpp"
#include "strategy/lease_rows.hpp"

namespace rowlock::inline v1::strategies {

/// A lease, decided by the unique index on the name: whoever inserts the row, or takes over a vacant or expired one.
class unique_index final : public lease_rows {
 public:
  using lease_rows::lease_rows;
  std::vector<answer> acquire(driver::session& on, std::span<const attempt> batch,
                              const driver::limits& until) const override;

 private:
  std::vector<answer> look_first(driver::session& on, std::span<const attempt> batch,
                                 const driver::limits& until) const;

  mutable core::recent_names refused_;
};

}  // namespace rowlock::inline v1::strategies
