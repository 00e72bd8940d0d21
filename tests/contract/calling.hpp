#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "support/calls.hpp"
#include "support/next_release.hpp"
#include "support/recorder.hpp"

// The suite is run for each way of calling: these hide what they derive from, and acquire by the call of the same name
// that blocks, or by the asynchronous one. Whatever else waits (mutex, election, multi_lock) blocks.

namespace rowlock::test {

/// The tests expect that a name is free when a handle is destroyed. After an asynchronous call it would be so only
/// soon.
void release_without_delay(const held_lock& held);
inline void release_without_delay(const held_set& held) {
  for (const auto& each : held.locks()) release_without_delay(each);
}
template <class T>
void release_without_delay(const std::optional<T>& held) {
  if (held) release_without_delay(*held);
}

template <class T>
T granted_by(async_call<T> call) {
  auto held = answer_to(std::move(call));
  release_without_delay(held);
  return held;
}

inline bool calls_block() { return ways_of_calls() == way_of_calling::blocking; }

class client : public rowlock::client {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): it is one
  client(rowlock::client&& other) noexcept : rowlock::client{std::move(other)} {}
  [[nodiscard]] static client connect(std::string_view url, client_options options = {}) {
    return rowlock::client::connect(url, std::move(options));
  }

#define ROWLOCK_CALL(T, call, what)                                                                                 \
  [[nodiscard]] T call(const what& name, const lock_options& options = {}, std::stop_token stop = {}) {             \
    if (calls_block()) return rowlock::client::call(name, options, std::move(stop));                                \
    return granted_by(call##_async(name, options, std::move(stop)));                                                \
  }                                                                                                                 \
  [[nodiscard]] std::optional<T> try_##call(const what& name, const lock_options& options = {}) {                   \
    if (calls_block()) return rowlock::client::try_##call(name, options);                                           \
    return granted_by(try_##call##_async(name, options));                                                           \
  }                                                                                                                 \
  template <class Rep, class Period>                                                                                \
  [[nodiscard]] std::optional<T> try_##call##_for(const what& name, const std::chrono::duration<Rep, Period>& wait, \
                                                  const lock_options& options = {}, std::stop_token stop = {}) {    \
    if (calls_block()) return rowlock::client::try_##call##_for(name, wait, options, std::move(stop));              \
    return granted_by(try_##call##_for_async(name, wait, options, std::move(stop)));                                \
  }
  ROWLOCK_CALL(held_lock, acquire, lock_name)
  ROWLOCK_CALL(held_lock, acquire_shared, lock_name)
  ROWLOCK_CALL(held_lock, acquire_any, lock_names)
  ROWLOCK_CALL(held_set, acquire_all, lock_names)
#undef ROWLOCK_CALL
};

class semaphore : public rowlock::semaphore {
 public:
  using rowlock::semaphore::semaphore;

  [[nodiscard]] held_lock acquire(std::int64_t number = 1, std::stop_token stop = {}) {
    if (calls_block()) return rowlock::semaphore::acquire(number, std::move(stop));
    return granted_by(acquire_async(number, std::move(stop)));
  }
  [[nodiscard]] std::optional<held_lock> try_acquire(std::int64_t number = 1) {
    if (calls_block()) return rowlock::semaphore::try_acquire(number);
    return granted_by(try_acquire_async(number));
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                                         std::int64_t number = 1, std::stop_token stop = {}) {
    if (calls_block()) return rowlock::semaphore::try_acquire_for(wait, number, std::move(stop));
    return granted_by(try_acquire_for_async(wait, number, std::move(stop)));
  }
};

}  // namespace rowlock::test
