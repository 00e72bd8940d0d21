#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

// Cycles that are one transaction of the caller's, which changes a row of its own. By hand all statements are prepared;
// rowlock and they share the connection and its driver.

using make_transactions = std::unique_ptr<subject> (*)(const server& at, const std::string& prefix);

/// Nothing else.
std::unique_ptr<subject> make_raw_writing(const server& at, const std::string& prefix);
/// Locks the row of the lock before, where rows can be locked, and raises its version.
std::unique_ptr<subject> make_raw_locking(const server& at, const std::string& prefix);
/// rowlock::lock_in before.
std::unique_ptr<subject> make_lock_in(const server& at, const std::string& prefix);
/// rowlock::confirm before, of a lease that is held all the time.
std::unique_ptr<subject> make_confirm(const server& at, const std::string& prefix);

/// How many statements a cycle gives to the caller's connection.
double count_on_own_connections(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                                std::size_t cycles);

}  // namespace bench
