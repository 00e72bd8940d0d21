#pragma once

#include <memory>

#include "driver/mysql/address.hpp"
#include "driver/mysql/connector.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Connects within limits that the connector does not know. `call_timeout`: how long the connector waits for one answer
/// of the server. A thread that is left behind ends by the connector's own limits, at most a second after the deadline
/// that it was given, or when the resolver of host names answers.
std::unique_ptr<connector_connection> connect(const mysql_address& to, duration call_timeout, const limits& until);

}  // namespace rowlock::inline v1::driver
