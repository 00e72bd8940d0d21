#pragma once

#include <rowlock/client.hpp>

#include <string>

#include "support/recorder.hpp"

// Tests of migrations and of rolling deploys: the programs of this library are the old ones then. The new ones are of a
// release that is this library with one more schema file, which the tests make up: it changes tables that are in use,
// and makes one.

namespace rowlock::test {

/// The number of that file.
int next_schema(const std::string& url);
/// What the file makes.
inline constexpr const char* table_of_next_schema = "rowlock_artificial";

/// connect_patiently() by a program of that release. `serves_from` is that of its file.
client connect_next_release(const std::string& url, client_options options = {}, int serves_from = 1);

}  // namespace rowlock::test
