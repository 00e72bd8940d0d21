#pragma once

#include <string>

#include "driver/postgresql/address.hpp"
#include "driver/postgresql/libpqxx.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// A connection that is authenticated, close-on-exec and verbose in its errors. Each of several hosts is given its
/// share of the remaining time.
postgresql_handle connect(const postgresql_address& to, const limits& until);

/// For messages: the host, the port and the database that libpq connects to.
std::string name_of_server(const PGconn* connection);
std::string name_of_server(const postgresql_address::settings& with);

}  // namespace rowlock::inline v1::driver
