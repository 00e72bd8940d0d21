#include "engine/queue/late_tickets.hpp"

#include <algorithm>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::engine {

void late_tickets::add(const lock_name& name, const core::acquisition_id& attempt, base::instant until) {
  const auto all = all_.lock();
  const auto at = base::now();
  std::erase_if(*all, [&](const ticket& t) { return t.until <= at; });
  all->push_back({.name = name, .attempt = attempt, .until = until});
  is_empty_ = false;
}

void late_tickets::remove(const core::acquisition_id& attempt) noexcept {
  std::erase_if(*all_.lock(), [&](const ticket& t) { return t.attempt == attempt; });
  removed_.notify_all();
}

// Asked before every attempt and every release.
bool late_tickets::has(const lock_name& name, base::instant now) {
  if (is_empty_) return false;
  const auto all = all_.lock();
  std::erase_if(*all, [&](const ticket& t) { return t.until <= now; });
  is_empty_ = all->empty();
  return has(*all, name);
}

std::vector<core::acquisition_id> late_tickets::of(const lock_name& name, base::instant now) {
  std::vector<core::acquisition_id> out;
  const auto all = all_.lock();  // for as long as the loop
  for (const auto& t : *all)
    if (t.name == name && t.until > now) out.push_back(t.attempt);
  return out;
}

bool late_tickets::has(const std::vector<ticket>& all, const lock_name& name) {
  return std::any_of(all.begin(), all.end(), [&](const ticket& t) { return t.name == name; });
}

void late_tickets::wait(const lock_name& name, base::instant deadline, const std::stop_token& stop) {
  auto all = all_.lock();
  base::wait_until(removed_, all.lock(), deadline, stop, [&] { return !has(*all, name); });
}

}  // namespace rowlock::inline v1::engine
