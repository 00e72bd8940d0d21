#include <rowlock/semaphore.hpp>

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <string>
#include <utility>

#include "api/async.hpp"
#include "api/inside.hpp"
#include "base/text.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1 {

struct semaphore::state {
  const std::shared_ptr<engine::client_core> client;
  const lock_name name;
  const std::int64_t permits;
  const lock_options options;

  core::sharing share(std::int64_t number) const {
    const core::sharing out{.permits = number, .max_other_permits = permits - number};
    if (number < 1 || number > permits)
      throw error{errc::invalid_option, std::to_string(number) + " permits are asked for, but the semaphore has only " +
                                            std::to_string(permits) + "; ask for fewer"};
    return out;
  }
};

semaphore::semaphore(client& from, lock_name name, std::int64_t permits, lock_options options)
    : state_{std::make_unique<state>(state{.client = detail::inside::of(from),
                                           .name = std::move(name),
                                           .permits = permits,
                                           .options = std::move(options)})} {
  core::check(state_->options);
  if (state_->options.as)
    throw error{errc::invalid_option,
                "a semaphore gives each handle permits of its own, whoever the holder is; leave the option as out"};
  if (permits < 1 || permits > max())
    throw error{errc::invalid_option,
                "permits is " + std::to_string(permits) + "; it must be between 1 and " + std::to_string(max())};
  core::check(state_->share(1), state_->options);
}

semaphore::~semaphore() = default;

held_lock semaphore::acquire(std::int64_t number, std::stop_token stop) {
  return detail::granted(try_acquire_for_(duration::max(), number, std::move(stop)), "for a permit of ", &name());
}

std::optional<held_lock> semaphore::try_acquire(std::int64_t number) {
  return try_acquire_for_(duration::zero(), number, {});
}

std::optional<held_lock> semaphore::try_acquire_for_(duration wait, std::int64_t number, std::stop_token stop) {
  const auto& s = *state_;
  return detail::inside::held(
      s.client, s.client->acquiring.acquire(s.name, s.options, std::nullopt, wait, stop, s.share(number)));
}

async_call<held_lock> semaphore::acquire_async(std::int64_t number, std::stop_token stop) {
  const auto& s = *state_;
  return detail::acquire_permits(s.client, s.name, s.options, s.share(number), std::move(stop));
}

async_call<std::optional<held_lock>> semaphore::try_acquire_async(std::int64_t number) {
  return acquire_async_(duration::zero(), number, {});
}

async_call<std::optional<held_lock>> semaphore::acquire_async_(duration wait, std::int64_t number,
                                                               std::stop_token stop) {
  const auto& s = *state_;
  return detail::acquire_permits(s.client, s.name, s.options, s.share(number), wait, std::move(stop));
}

const lock_name& semaphore::name() const noexcept { return state_->name; }
std::int64_t semaphore::permits() const noexcept { return state_->permits; }

}  // namespace rowlock::inline v1
