#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/mysql/session.hpp"

namespace rowlock::inline v1::driver {

using connect_another = std::function<std::unique_ptr<mysql_session>()>;

/// The sessions that keep the row of that name locked, by the server's own account: any client may have written what
/// the row says. None: the row is free. On MariaDB a second session waits for the row, and the first one asks which
/// session it waits for; that takes PROCESS. On MySQL it takes SELECT on performance_schema's data_locks and threads.
/// Throws permission_denied.
std::vector<std::int64_t> blockers_of(const std::string& table, std::string_view name, mysql_session& asking,
                                      const connect_another& connect, const limits& until);

}  // namespace rowlock::inline v1::driver
