#pragma once

#include <memory>
#include <utility>

#include "driver/connector_cpp.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Connects within limits that the connector does not know. A thread that is left behind ends by the connector's own
/// limits, at most a second later than the deadline it was given, or when the resolver of host names answers.
class mysql_connecting {
 public:
  /// `call_timeout`: how long the connector waits for one answer.
  mysql_connecting(mysql_address to, duration call_timeout) : to_{std::move(to)}, call_timeout_{call_timeout} {}

  const mysql_address& address() const noexcept { return to_; }

  std::unique_ptr<connector_connection> connect(const limits& until) const;

 private:
  const mysql_address to_;
  const duration call_timeout_;
};

}  // namespace rowlock::inline v1::driver
