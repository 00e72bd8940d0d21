#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/connector_cpp.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Connects within limits that the connector does not know: in a thread, for which nobody waits longer than that. One
/// that is left behind ends by the connector's own limits, at most a second later than the deadline it was given, and
/// the destructor waits for it.
class mysql_connecting {
 public:
  /// `call_timeout`: how long the connector waits for one answer.
  mysql_connecting(mysql_address to, duration call_timeout) : to_{std::move(to)}, call_timeout_{call_timeout} {}
  mysql_connecting(const mysql_connecting&) = delete;
  mysql_connecting& operator=(const mysql_connecting&) = delete;
  ~mysql_connecting() = default;

  const mysql_address& address() const noexcept { return to_; }

  std::unique_ptr<connector_connection> connect(const limits& until);

 private:
  struct attempt;
  struct straggler {
    std::shared_ptr<attempt> what;
    std::jthread thread;
  };

  void leave_behind(straggler one);

  const mysql_address to_;
  const duration call_timeout_;
  std::mutex mutex_;
  std::vector<straggler> stragglers_;  // guarded by it
};

}  // namespace rowlock::inline v1::driver
