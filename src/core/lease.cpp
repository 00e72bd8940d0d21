#include "core/lease.hpp"

#include <algorithm>
#include <chrono>

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;

duration margin(duration lease) noexcept { return std::max<duration>(lease / 10, 10ms); }

base::instant local_deadline(base::instant sent, duration left, duration lease) noexcept {
  return base::later(sent, left) - margin(lease);
}

base::instant renewal_due(base::instant sent, duration lease) noexcept { return base::later(sent, lease / 3); }

bool joins_renewal(base::instant due, base::instant now, duration lease) noexcept {
  return due <= base::later(now, lease / 6);
}

base::instant renewal_retry(base::instant now, duration lease, double jitter) noexcept {
  const auto usual = std::clamp<duration>(lease / 20, 10ms, 1s);
  return base::later(now, usual / 2 + std::chrono::duration_cast<duration>(usual / 2 * jitter));
}

duration undo_pause(int attempt) noexcept { return std::min<duration>(50ms * (1 << std::clamp(attempt, 0, 6)), 2s); }

}  // namespace rowlock::inline v1::core
