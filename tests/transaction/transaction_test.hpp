#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/background.hpp"
#include "support/database.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/server_database.hpp"
#include "support/slowness.hpp"
#include "support/strategies.hpp"
#include "testkit/eventually.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {

/// A database, and how transactions begin there.
struct place {
  database_kind database;
  std::string_view isolation;
  bool keeps_snapshot = false;   ///< what it has read once, it goes on to see
  bool locks_reads = false;      ///< what it has read, nobody changes
  bool locks_file = false;       ///< nobody else writes from the beginning on
  bool is_like_another = false;  ///< to rowlock, which asks only for what is said above: not in the quick tier

  std::string name() const;
};

std::ostream& operator<<(std::ostream& out, const place& p);

/// Every database that is compiled in with every isolation level that makes a difference there; in the full tier with
/// all.
std::vector<place> each_place();
/// Each with its usual one.
std::vector<place> usual_places();

/// Those of them where others can write while such a transaction is open, and where they can write what it has read.
std::vector<place> beside_others(std::vector<place> of);
std::vector<place> beside_writers(std::vector<place> of);
std::vector<place> on(std::string_view database, std::vector<place> of);
std::vector<place> not_on(std::string_view database, std::vector<place> of);
std::vector<place> on_servers(std::vector<place> of);
std::vector<place> in_files(std::vector<place> of);

/// What every test of the suite has: a place of its own with the tables, a client, another client, and a caller with a
/// table of its own: own (id, n), in which n is 0 for each id from 1 to 3.
class transaction_test : public testing::TestWithParam<place> {
 protected:
  transaction_test();

  database& db() const { return *database_; }
  /// Where it is one.
  server_database& server() const { return dynamic_cast<server_database&>(db()); }
  client& locks() { return locks_; }
  client& others() { return others_; }
  caller& tx() { return *tx_; }
  /// Closes the connection.
  void drop_tx() { tx_.reset(); }

  bool is_on(std::string_view kind) const { return GetParam().database.name == kind; }
  bool is_on_server() const { return !is_on("sqlite"); }

  client connect(client_options options = {}) const;
  std::unique_ptr<caller> open() const { return open_caller(db().url(), GetParam().isolation); }
  /// One that sees what is committed and nothing else.
  std::unique_ptr<caller> open_witness() const {
    return open_caller(db().url(), is_on_server() ? "read committed" : "deferred");
  }

  /// Whether the other client can have it now; it is let go again at once.
  bool can_have(const lock_name& name, strategy by = strategy::unique_index);
  /// In the end: a server learns of a closed connection when it comes to it.
  bool can_have_soon(const lock_name& name);
  /// Whether a transaction of its own can lock it now.
  bool can_lock_in(const lock_name& name = "orders/42");
  /// A transaction of its own that has locked it.
  transaction_lock begin_and_lock_in(const lock_name& name = "orders/42");
  /// The same of another caller.
  std::unique_ptr<caller> locked_elsewhere(const lock_name& name = "orders/42");
  /// A transaction of its own that has written, and then confirmed the lock.
  void write_and_confirm(const held_lock& held);
  /// The transaction, which has written nothing yet, can write and commit.
  void expect_of_use();
  /// So that a transaction that has read already finds them, too.
  void make_rows(std::initializer_list<const char*> names);
  /// What others see.
  std::int64_t value(int id = 1) const;

  std::int64_t expiry(std::string_view name) const { return db().row(name).value().expires_at.value(); }
  /// Waits until the row shows two renewals, so that one of them was sent from now on.
  bool is_renewed(std::string_view name) const;
  /// Waits until the lease is over, by the row.
  bool has_expired(std::string_view name) const;

  /// Whether the server refuses to lock a row that was changed since the transaction took its snapshot: MariaDB, from
  /// 11.6 on by default.
  bool refuses_what_has_changed() {
    return is_on("mysql") && tx().text("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").ends_with("ON");
  }

  static constexpr const char* read_own = "SELECT n FROM own WHERE id = 1";
  static constexpr const char* write_own = "UPDATE own SET n = n + 1 WHERE id = 1";

 private:
  std::unique_ptr<database> database_ = GetParam().database.open();
  client locks_;
  client others_;
  std::unique_ptr<caller> tx_;
};

std::string place_name(const testing::TestParamInfo<place>& info);

/// A build with one backend may have none of these places.
#define ROWLOCK_SUITE_IN(suite, places)                 \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(in, suite, testing::ValuesIn(places), place_name)
/// The same of another suite, for tests that need other places.
// NOLINTBEGIN(bugprone-macro-parentheses): names of classes
#define ROWLOCK_SUITE_LIKE_IN(suite, like, places) \
  class suite : public like {};                    \
  ROWLOCK_SUITE_IN(suite, places)
// NOLINTEND(bugprone-macro-parentheses)

/// Whether the call throws something after which the transaction is to be begun again.
template <class Call>
testing::AssertionResult throws_retryable(Call&& call) {
  const auto e = error_of([&] { call(); });
  if (!e) return testing::AssertionFailure() << "nothing was thrown";
  if (!e->is_retryable()) return testing::AssertionFailure() << "not to be retried: " << e->what();
  return testing::AssertionSuccess() << "it said: " << e->what();
}

}  // namespace rowlock::test
