#pragma once

namespace rowlock::test {

/// What main() of a test program does: runs its tests, each within a limit of time, and says of one that fails how it
/// is run alone and what the servers wrote into their logs meanwhile. The environment:
///
/// - ROWLOCK_TEST_REGEX: only the tests in whose full name it is found. GoogleTest's own filter holds as well.
/// - ROWLOCK_TEST_LIMIT: after so many seconds a test is named, the stacks of its threads are written, and the program
/// is
///   aborted. No limit without it.
/// - ROWLOCK_TEST_AGAIN: a file. What failed is told there and run once more, alone, and that decides. A test that ends
///   its program has failed.
/// - ROWLOCK_TEST_LOGS: the files that servers write to, separated by colons.
int run_all_tests(int argc, char** argv);

}  // namespace rowlock::test
