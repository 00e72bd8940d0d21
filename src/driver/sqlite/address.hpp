#pragma once

#include <string>

#include "core/url.hpp"

namespace rowlock::inline v1::driver {

/// The path of the file that a URL names: sqlite:relative, sqlite:/absolute or sqlite:///absolute. Throws
/// error{errc::invalid_url}.
std::string read_sqlite_url(const core::url& url);

}  // namespace rowlock::inline v1::driver
