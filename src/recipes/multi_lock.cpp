#include <rowlock/multi_lock.hpp>

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "api/inside.hpp"
#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1 {

struct multi_lock::state {
  const std::vector<part> parts;
  const lock_options options;

  void check() const {
    core::check(options);
    if (options.at_least != duration::zero())
      throw error{errc::unsupported,
                  "a multi_lock releases its locks when it is refused another name, and with at_least these would "
                  "stay taken; leave the option out"};
    if (parts.empty()) throw error{errc::invalid_option, "a multi_lock needs at least one part"};
    for (auto a = parts.begin(); a != parts.end(); ++a)
      if (std::any_of(parts.begin(), a,
                      [&](const part& b) { return &a->client.get() == &b.client.get() && a->name == b.name; }))
        throw error{errc::invalid_option,
                    base::quoted(a->name.view()) + " is twice among the parts with one client; name it once"};
  }
};

multi_lock::multi_lock(std::vector<part> parts, lock_options options)
    : state_{std::make_unique<state>(state{.parts = std::move(parts), .options = std::move(options)})} {
  state_->check();
}

multi_lock::~multi_lock() = default;

held_set multi_lock::acquire(std::stop_token stop) {
  const auto what_for = "for " + std::to_string(state_->parts.size()) + " locks";
  return detail::granted(try_acquire_for_(duration::max(), std::move(stop)), what_for.c_str());
}

std::optional<held_set> multi_lock::try_acquire() { return try_acquire_for_(duration::zero(), {}); }

std::optional<held_set> multi_lock::try_acquire_for_(duration wait, std::stop_token stop) {
  using namespace std::chrono_literals;
  const auto& parts = state_->parts;
  const auto deadline = base::later(base::now(), std::max(wait, duration::zero()));
  std::size_t waited_for = 0;
  for (int round = 0;; ++round) {
    std::vector<held_lock> held(parts.size());
    const auto takes = [&](std::size_t which, duration limit) {
      auto lock = parts[which].client.get().try_acquire_for(parts[which].name, limit, state_->options, stop);
      if (lock) held[which] = std::move(*lock);
      return lock.has_value();
    };
    const auto left = deadline == base::instant::max() ? duration::max() : deadline - base::now();
    if (!takes(waited_for, left)) return std::nullopt;
    std::size_t next = 0;
    while (next < parts.size() && (next == waited_for || takes(next, duration::zero()))) ++next;
    if (next == parts.size()) return held_set{std::move(held)};
    if (stop.stop_requested() || base::now() >= deadline) return std::nullopt;
    held.clear();
    waited_for = next;
    // Two calls that name the same locks in opposite orders might be refused alternately.
    if (round > 0) base::pause_at_random(1ms * (1 << std::min(round, 6)), deadline, stop);
  }
}

}  // namespace rowlock::inline v1
