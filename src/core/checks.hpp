#pragma once

#include <rowlock/options.hpp>
#include <rowlock/sweeper.hpp>
#include <rowlock/transaction.hpp>

#include "core/sharing.hpp"

namespace rowlock::inline v1::core {

/// Each throws error{errc::invalid_option} with a sentence that names the option, the value and the rule.
void check(const client_options& options);
void check(const lock_options& options);
/// Also throws errc::unsupported: not every strategy can share a name.
void check(const sharing& how, const lock_options& options);
void check(const lock_in_options& options);
void check(const retry_options& options);
/// For a client with the options `of`.
void check(const sweeper_options& options, const client_options& of);
void check_lease(duration lease);
/// Of the guard over failovers.
void check_quarantine(duration length);

// For a sentence:

/// "1500 ms"
std::string in_milliseconds(duration d);
/// "2 s", rounded up.
std::string in_whole_seconds(duration d);

}  // namespace rowlock::inline v1::core
