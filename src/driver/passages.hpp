#pragma once

#include <rowlock/export.hpp>
#include <rowlock/options.hpp>

#include <string_view>
#include <vector>

#include "sql/passage.hpp"

namespace rowlock::inline v1::driver {

/// The statements that a client with these options sends to the database of that URL, whose scheme alone counts.
/// Connects to nothing. Throws as backend_for does, and error{errc::invalid_option}.
ROWLOCK_EXPORT std::vector<sheets::passage> passages_for(std::string_view url, const client_options& with);

}  // namespace rowlock::inline v1::driver
