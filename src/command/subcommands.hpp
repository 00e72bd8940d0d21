#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// Each carries out its subcommand, prints to standard output, and returns the exit status.
int check(const options& given);
int print_completion(const options& given);
int guard_failovers(const options& given);
int history(const options& given);
int list(const options& given);
int metrics(const options& given);
int migrate(const options& given);
int print_sql(const options& given);
int release(const options& given);
int show(const options& given);
int sweep(const options& given);
int top(const options& given);
int waiters(const options& given);

/// These two do not return if a signal ends the wait for the lock. Call them on the main thread, while there is no
/// other.
///
/// Runs the command under the lock; for lead: again and again, until it ends by itself or a signal ends it.
int run(const options& given);
/// Prints the lock's token, and holds the lock until standard input ends, a signal arrives or the lock is lost.
int hold(const options& given);

}  // namespace rowlock::command
