#include "engine/gateway/gathering.hpp"

#include <algorithm>
#include <chrono>

namespace rowlock::inline v1::engine {

duration gathering::longest() const noexcept { return std::min<duration>(took_ / 2, std::chrono::milliseconds{5}); }

// Grows where more than seven of eight are prompt.
void gathering::came(duration pause) noexcept {
  score_ = std::clamp(score_ + (pause <= longest() ? 1 : -7), 0, 2 * enough);
}

void gathering::begin(std::size_t callers, base::instant now) noexcept {
  callers_ = callers;
  until_ = now + longest();
}

}  // namespace rowlock::inline v1::engine
