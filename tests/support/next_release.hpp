#pragma once

#include <rowlock/client.hpp>

#include <string>

#include "support/recorder.hpp"

// For tests of migrations and rolling deploys. This library is the old release. The next release is the same library
// with one more schema file, which the tests invent: it changes tables in use, and creates one.

namespace rowlock::test {

/// The number of that file.
int next_schema(const std::string& url);
/// The table that the file creates.
inline constexpr const char* table_of_next_schema = "rowlock_artificial";

/// connect_patiently() as a program of the next release. `serves_from` is that of its file.
client connect_next_release(const std::string& url, client_options options = {}, int serves_from = 1);

}  // namespace rowlock::test
