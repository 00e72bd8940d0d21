#pragma once

#include <memory>

#include "driver/backend.hpp"
#include "driver/mysql/address.hpp"
#include "driver/mysql/connector.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Connects within limits that the connector does not know. `call_timeout`: how long the connector waits for one answer
/// of the server. A thread that is left behind ends by the connector's own limits, at most a second after the deadline
/// that it was given, or when the resolver of host names answers.
/// `warning` hears if the server offers TLS, and the URL lets the connection do without where it fails.
std::unique_ptr<connector_connection> connect(const mysql_address& to, duration call_timeout, const limits& until,
                                              const warn& warning);

/// Whether connections are not encrypted in this process although they may be: it is the child of a fork in which TLS
/// may hang. A URL that requires encryption gets it, or an error when the time is over.
bool must_avoid_tls(const mysql_address& to) noexcept;

}  // namespace rowlock::inline v1::driver
