#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/mysql_session.hpp"

namespace rowlock::inline v1::driver {

using connect_another = std::function<std::unique_ptr<mysql_session>()>;

/// The sessions that keep the row of that name locked, as the server says: what the row itself says anybody may have
/// written. None: the row is free. On MariaDB another session is made to wait for the row, and the first one asks for
/// whom; that takes PROCESS. On MySQL it takes SELECT on performance_schema's data_locks and threads. Throws
/// permission_denied.
std::vector<std::int64_t> keepers_of(const std::string& table, std::string_view name, mysql_session& asking,
                                     const connect_another& connect, const limits& until);

}  // namespace rowlock::inline v1::driver
