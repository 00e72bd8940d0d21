#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contract/calling.hpp"
#include "support/background.hpp"
#include "support/database.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/test_thread.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

/// One database × one strategy: what the whole suite is run for.
struct subject {
  std::string name;
  std::unique_ptr<database> (*open)();
  rowlock::strategy strategy = rowlock::strategy::unique_index;
  bool has_lease = true;
  bool holds_by_transaction = false;
};

std::ostream& operator<<(std::ostream& out, const subject& s);

/// The databases that are compiled in, each with every strategy: for what a strategy does itself. To add a strategy is
/// to add a line in contract.cpp.
///
/// The full tier has all nine pairs, here and in the following. The quick tier leaves out those whose statements other
/// tests send, most of all on PostgreSQL, which needs three times as long for a test as the others; and with
/// asynchronous calls (ROWLOCK_TEST_CALLS) it has one pair.
std::vector<subject> every_pair();
/// Each database and each strategy, under a sanitizer unique_index: for what is the same code whichever strategy it is.
std::vector<subject> usual_pairs();
/// One pair: for what is the same code whichever database and strategy it is.
std::vector<subject> any_pair();

/// Those of them on that database, and on the others.
std::vector<subject> on(std::string_view database, std::vector<subject> of);
std::vector<subject> not_on(std::string_view database, std::vector<subject> of);
/// Those of them that hold by a lease.
std::vector<subject> leases(std::vector<subject> of);
/// Those by which others can look into the row of a lock that is held, or change it behind the holder's back.
std::vector<subject> rows(std::vector<subject> of);
/// The others: the row is locked, and nothing of the lock is committed.
std::vector<subject> transactions(std::vector<subject> of);

/// What every test of the suite has: a database of its own.
class contract : public testing::TestWithParam<subject> {
 protected:
  database& db() { return *database_; }

  /// A client on the database, its tables made. Without an observer of its own it is silent.
  client connect(const client_options& options = {});
  /// The same without migrating.
  client connect_bare(const client_options& options = {});
  /// The options of a client, with room for what this test is run for.
  static client_options with_room(client_options options);

  /// The options of a lock, with the strategy this test is run for, and without a lease where that has none.
  static lock_options with(lock_options options = {});

  /// Whether the client can have the name now; it is let go again at once.
  static bool can_have(client& locks, const lock_name& name);

 private:
  std::unique_ptr<database> database_ = GetParam().open();
};

/// The same with a client.
class one_client : public contract {
 protected:
  const recorder told_;  // of it
  client locks_ = connect({.observer = told_.observer()});
};

/// The same with another, as of another program.
class two_clients : public one_client {
 protected:
  client other_ = connect();
};

/// How many statements the client has sent, or those of one kind, as its statistics call it.
std::uint64_t sent(const client& by, std::string_view operation = {});

/// Waits for a moment in which no set that waits by now insists: not in the first second of its wait, nor in one in
/// five by the clock.
bool sets_cease_to_insist();

std::string subject_name(const testing::TestParamInfo<subject>& info);

/// Runs the suite of that name for these subjects, of which a build with one backend may have none.
#define ROWLOCK_CONTRACT_SUITE(suite, subjects)         \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(contract, suite, testing::ValuesIn(subjects), subject_name)

}  // namespace rowlock::test
