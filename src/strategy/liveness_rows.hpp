#pragma once

#include "strategy/lease_rows.hpp"

namespace rowlock::inline v1::strategies {

/// for_update where rows have no locks: the row is held without a lease, and names what tells others that the client
/// lives. Renewing it asks whether it is still held.
class liveness_rows final : public lease_rows {
 public:
  using lease_rows::lease_rows;
  std::vector<answer> acquire(driver::session& on, std::span<const attempt> batch,
                              const driver::limits& until) const override;
};

}  // namespace rowlock::inline v1::strategies
