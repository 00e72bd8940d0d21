#pragma once

namespace rowlock::test {

/// The main() of a test program: runs its tests, each within a time limit. For a failed test, prints how to run it
/// alone and what the servers logged meanwhile. The environment:
///
/// - ROWLOCK_TEST_REGEX: only the tests whose full name matches it. GoogleTest's own filter applies as well.
/// - ROWLOCK_TEST_LIMIT: seconds. After them a test is named, the stacks of its threads are written, and the program is
///   aborted. Default: no limit.
/// - ROWLOCK_TEST_AGAIN: a file. Failed tests are reported there and run once more, alone; the second run decides. A
///   test that ends its program has failed.
/// - ROWLOCK_TEST_LOGS: the log files of servers, separated by colons.
int run_all_tests(int argc, char** argv);

}  // namespace rowlock::test
