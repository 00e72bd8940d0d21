#pragma once

#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// A lease, taken by reading the row and changing it only if it still has the version that was read. Of two that read
/// the same version one changes it; the other gets no answer and has to read again.
class version_cas final : public algorithm {
 public:
  std::vector<answer> acquire(const store::access& db, std::span<const acquire_args> batch) const override;
};

}  // namespace rowlock::inline v1::strategies
