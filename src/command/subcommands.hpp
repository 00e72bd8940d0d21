#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// Each carries out its subcommand, prints to standard output, and returns the exit status.
int check(const options& given);
int print_completion(const options& given);
int list(const options& given);
int metrics(const options& given);
int migrate(const options& given);
int print_sql(const options& given);
int release(const options& given);
int show(const options& given);
int sweep(const options& given);
int top(const options& given);
int waiters(const options& given);

/// These do not return where a signal ended the wait for the lock. The main thread calls them while there are no
/// others.
///
/// Runs the command under the lock; for lead: again and again, until it ends by itself or a signal ends it.
int run(const options& given);
/// Prints the lock's token, and holds the lock until standard input or a signal ends that, or it is lost.
int hold(const options& given);

}  // namespace rowlock::command
