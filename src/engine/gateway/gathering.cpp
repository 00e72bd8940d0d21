#include "engine/gateway/gathering.hpp"

#include <algorithm>
#include <chrono>

namespace rowlock::inline v1::engine {

namespace {
constexpr duration most = std::chrono::milliseconds{5};
constexpr duration least = std::chrono::microseconds{50};  // what a timed wait itself takes
}  // namespace

duration gathering::longest() const noexcept { return std::min(took_by_eight_ / 16, most); }

duration gathering::patience() const noexcept { return took_by_eight_ / 2 + 4 * most; }

void gathering::ended(duration took) noexcept { took_by_eight_ += std::min(took, 2 * most) - took_by_eight_ / 8; }

// Grows where more than seven of eight are prompt.
void gathering::came(duration pause) noexcept {
  score_ = std::clamp(score_ + (pause <= longest() ? 1 : -7), 0, 2 * enough);
}

void gathering::begin(std::size_t callers, base::instant now) noexcept {
  callers_ = longest() < least ? 0 : callers;
  until_ = now + longest();
}

}  // namespace rowlock::inline v1::engine
