#pragma once

#include <rowlock/lock_name.hpp>

#include <cstdint>

namespace rowlock::inline v1::engine {

/// Told of every release by this client, so that the next waiter hears of it. A release and the departure of a waiter
/// may miss each other in the database: so the count of departures is read before the release is sent.
class release_notices {
 public:
  release_notices() = default;
  release_notices(const release_notices&) = delete;
  release_notices& operator=(const release_notices&) = delete;
  virtual ~release_notices() = default;
  virtual std::uint64_t departures() const noexcept = 0;
  virtual void released(const lock_name& name, std::uint64_t departures_before) = 0;
  /// Notifies the next waiter of a name that nobody else is told of.
  virtual void pass_on(const lock_name& name) = 0;
};

}  // namespace rowlock::inline v1::engine
