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

namespace {

constexpr std::int64_t least_block = 64;
constexpr std::int64_t greatest_block = 4096;

}  // namespace

succession after_release(const tenure& t, base::instant now, base::instant renewal_due, duration limit) noexcept {
  if (now >= tenure_end(t, limit)) return succession::release;
  if (t.tokens == 0 && t.others_wait) return succession::release;
  return t.tokens == 0 || now >= renewal_due ? succession::reserve : succession::hand_over;
}

base::instant tenure_end(const tenure& t, duration limit) noexcept { return base::later(t.began, limit); }

std::int64_t block_size(const tenure& t, base::instant now) noexcept {
  if (t.next == fencing_token{}) return least_block;
  return std::clamp<std::int64_t>((now - t.reserved_at).count(), least_block, greatest_block);
}

void add_block(tenure& t, fencing_token last, std::int64_t number, bool others_wait, base::instant now) noexcept {
  t.next = fencing_token{last.value() - number + 1};
  t.tokens = number;
  t.reserved_at = now;
  t.others_wait = others_wait;
}

fencing_token take_token(tenure& t) noexcept {
  const auto out = t.next;
  t.next = fencing_token{out.value() + 1};
  --t.tokens;
  return out;
}

}  // namespace rowlock::inline v1::core
