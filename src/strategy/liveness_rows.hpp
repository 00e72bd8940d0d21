#pragma once

#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// for_update for databases without row locks: the row is held without a lease and names a file that tells others that
/// the client lives. Renewing it asks whether it is still held.
class liveness_rows final : public algorithm {
 public:
  std::vector<answer> acquire(const store::access& db, std::span<const acquire_args> batch) const override;
};

}  // namespace rowlock::inline v1::strategies
