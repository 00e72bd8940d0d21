#include "driver/sqlite/session.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <atomic>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/boot_clock.hpp"
#include "store/leases.hpp"
#include "store/schema.hpp"
#include "strategy/strategy.hpp"
#include "support/errors.hpp"
#include "testkit/temp_folder.hpp"

// The SQLite session and the SQL of its dialect, with a clock of the test's own where time matters.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using store::release_outcome;
using strategies::verdict;
using test::error_of;
using test::is_error;
using test::throws;

std::atomic<std::int64_t> test_time{1'700'000'000'000'000};
std::int64_t test_clock() { return test_time; }

std::int64_t ticking_clock() { return ++test_time; }

driver::limits within(duration d) { return {.deadline = base::now() + d}; }

std::string pragma_of(const std::string& path, const std::string& what) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  const driver::sqlite_handle close{db};
  driver::answer_rows rows;
  driver::sqlite_statement{db, "PRAGMA " + what}.run({}, rows);
  return driver::text(rows.take().at(0).at(0));
}

class sqlite_session_test : public testing::Test {
 protected:
  std::string file(const std::string& name = "locks.db") const { return (folder_ / name).string(); }
  driver::sqlite_session open(driver::wall_clock clock = test_clock) const {
    return {{.path = file(), .warning = {}, .clock = clock}, within(5s)};
  }
  store::access access(driver::session& on, const driver::limits& until) const {
    return {.sheet = sql_, .session = on, .until = until};
  }
  static void exclusively(driver::session& on, const std::function<void()>& body) { on.exclusively(body, within(5s)); }
  void migrate(driver::session& on) const { store::migrate(access(on, within(5s)), schema_); }
  static strategies::acquire_args wanted(const char* name, const char* acquisition, duration lease = 30s) {
    return {.name = name, .owner = "o", .thread = "t", .acquisition = acquisition, .note = "", .lease = lease};
  }
  /// Each by an acquisition that is called like the name.
  static std::vector<strategies::acquire_args> all_wanted(std::initializer_list<const char*> names) {
    std::vector<strategies::acquire_args> out;
    for (const char* name : names) out.push_back(wanted(name, name));
    return out;
  }
  strategies::answer acquire(driver::session& on, const char* name, const char* acquisition, duration lease = 30s,
                             duration limit = 5s) const {
    const auto one = wanted(name, acquisition, lease);
    return algorithm_.acquire(access(on, within(limit)), {&one, 1}).at(0);
  }
  release_outcome release(driver::session& on, const char* name, const char* acquisition) const {
    const store::lease_ref one{.name = name, .acquisition = acquisition};
    return store::release(access(on, within(5s)), {&one, 1}).at(0);
  }
  store::renewal renew(driver::session& on, const char* name, const char* acquisition, duration lease = 30s) const {
    const store::lease_ref one{.name = name, .acquisition = acquisition, .lease = lease};
    return store::renew(access(on, within(5s)), {&one, 1}).at(0);
  }

  std::int64_t expiry(std::string_view name) const {
    const sheets::step read{.verb = sheets::verb::inspect,
                            .read = "SELECT expires_at FROM rowlock_lock WHERE name = ?1"};
    const driver::request asked{name};
    driver::sqlite_session fresh = open();
    return driver::integer(fresh.run(read, {&asked, 1}, within(5s)).at(0).at(0));
  }

  test::temp_folder folder_;
  sheets::sheet sql_ = sheets::sqlite("rowlock_");
  const store::schema_files schema_{.files = sheets::sqlite_migrations(), .prefix = "rowlock_"};
  const strategies::algorithm algorithm_{strategies::unique_index};
};

std::vector<verdict> verdicts(const std::vector<strategies::answer>& of) {
  std::vector<verdict> out;
  for (const auto& each : of) out.push_back(each.what);
  return out;
}

struct with_tables : sqlite_session_test {
  with_tables() { migrate(session); }
  driver::sqlite_session session = open();
};

TEST_F(sqlite_session_test, on_a_new_file_keeps_the_log_from_being_removed) {
  auto session = open();
  {
    auto other = open();
    migrate(other);
  }
  for (const auto* each : {"1", "2"}) std::ofstream{file(each)}.flush();  // with the numbers of files that are gone
  EXPECT_EQ(acquire(session, "a", "1").what, verdict::granted);
}

TEST_F(sqlite_session_test, a_file_that_was_there_keeps_its_mode_and_gives_a_warning) {
  {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    const driver::sqlite_handle close{db};
    ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  std::vector<std::string> warnings;
  driver::sqlite_session session{
      {.path = file(), .warning = [&](const std::string& s) { warnings.push_back(s); }, .clock = test_clock},
      within(5s)};
  migrate(session);
  EXPECT_EQ(acquire(session, "a", "1").what, verdict::granted);
  EXPECT_EQ(pragma_of(file(), "journal_mode"), "delete");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("journal_mode delete"), std::string::npos) << warnings[0];
}

TEST_F(with_tables, the_first_token_is_the_clock_and_tokens_grow_although_that_is_set_back) {
  const auto first = acquire(session, "a", "1").token;
  EXPECT_EQ(first.value(), test_time);
  test_time -= 3'600'000'000;
  ASSERT_EQ(release(session, "a", "1"), release_outcome::released);
  const auto second = acquire(session, "a", "2").token;
  EXPECT_EQ(second.value(), first.value() + 2);  // the release counts too
  test_time += 3'600'000'000;
}

TEST_F(with_tables, a_lease_ends_at_the_instant_it_says_for_taking_and_for_renewing) {
  ASSERT_EQ(acquire(session, "a", "1", 10s).what, verdict::granted);
  test_time += 9'999'999;
  EXPECT_EQ(acquire(session, "a", "2").what, verdict::busy);
  EXPECT_EQ(acquire(session, "a", "2").left, 1us);
  EXPECT_EQ(renew(session, "a", "1", 10s).left, 10s);
  test_time += 10'000'000;
  EXPECT_EQ(renew(session, "a", "1", 10s).why, loss_reason::expired);
  EXPECT_EQ(acquire(session, "a", "2").what, verdict::granted);
  EXPECT_EQ(renew(session, "a", "1", 10s).why, loss_reason::taken_over);
  EXPECT_EQ(release(session, "a", "1"), release_outcome::gone);
}

TEST_F(with_tables, renewing_does_not_shorten_not_by_a_microsecond_while_the_clock_runs) {
  acquire(session, "a", "1", 1h);
  EXPECT_EQ(renew(session, "a", "1", 1s).left, 1h);
  auto ticking = open(ticking_clock);
  const auto before = expiry("a");
  EXPECT_LE(renew(ticking, "a", "1", 1s).left, 1h);
  EXPECT_EQ(expiry("a"), before);
}

TEST_F(with_tables, reserving_renews_and_raises_the_version_by_that_number_or_to_the_clock) {
  const auto token = acquire(session, "a", "1", 10s).token;
  const auto reserve = [&](std::string_view acquisition, std::int64_t number) {
    return store::reserve(access(session, within(5s)), {.name = "a", .acquisition = acquisition, .lease = 10s}, number);
  };
  test_time += 5'000'000;
  auto reserved = reserve("1", 64);
  ASSERT_TRUE(reserved);
  EXPECT_EQ(reserved->last.value(), token.value() + 5'000'000) << "the clock is ahead";
  EXPECT_EQ(reserved->left, 10s);
  EXPECT_FALSE(reserved->others_wait);
  EXPECT_EQ(reserve("1", 64)->last.value(), reserved->last.value() + 64);
  EXPECT_FALSE(reserve("2", 64)) << "not its own";
  session.script(
      "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
      "VALUES ('a', 'o', 't', '1', 0, " +
      std::to_string(test_time + 1) + ")");
  EXPECT_FALSE(reserve("1", 1)->others_wait) << "its own owner waits";
  session.script("UPDATE rowlock_waiter SET owner = 'another'");
  EXPECT_TRUE(reserve("1", 1)->others_wait);
  test_time += 1;
  EXPECT_FALSE(reserve("1", 1)->others_wait) << "it has expired";
  test_time += 10'000'000;
  EXPECT_FALSE(reserve("1", 1)) << "so has the lease";
}

TEST_F(with_tables, an_owner_without_expiry_is_busy_for_ever) {
  session.script("INSERT INTO rowlock_lock (name, version, owner) VALUES ('a', 1, 'o')");
  const auto answer = acquire(session, "a", "1");
  EXPECT_EQ(answer.what, verdict::busy);
  EXPECT_EQ(answer.left, std::nullopt);
}

TEST_F(with_tables, a_batch_answers_each_request_by_itself) {
  acquire(session, "b", "before");
  const auto batch = all_wanted({"a", "b", "c"});
  const auto answers = algorithm_.acquire(access(session, within(5s)), batch);
  ASSERT_EQ(verdicts(answers), (std::vector{verdict::granted, verdict::busy, verdict::granted}));
  const std::vector<store::lease_ref> held{{.name = "a", .acquisition = "a", .lease = 30s},
                                           {.name = "b", .acquisition = "b", .lease = 30s},
                                           {.name = "x", .acquisition = "x", .lease = 30s},
                                           {.name = "c", .acquisition = "c", .lease = 30s}};
  const auto renewals = store::renew(access(session, within(5s)), held);
  EXPECT_EQ(renewals[0].what, store::standing::kept);
  EXPECT_EQ(renewals[1].why, loss_reason::taken_over);
  EXPECT_EQ(renewals[2].why, loss_reason::row_vanished);
  EXPECT_EQ(renewals[3].what, store::standing::kept);
  EXPECT_EQ(store::release(access(session, within(5s)), held),
            (std::vector{release_outcome::released, release_outcome::gone, release_outcome::gone,
                         release_outcome::released}));
}

TEST_F(with_tables, a_refused_try_waits_for_no_lock_whether_the_last_was_granted_or_not) {
  acquire(session, "a", "1");
  auto writer = open();
  exclusively(writer, [&] {
    for (int times = 0; times < 2; ++times) EXPECT_EQ(acquire(session, "a", "2", 30s, 1ms).what, verdict::busy);
  });
}

TEST_F(with_tables, a_try_after_a_grant_is_refused_with_what_is_left_of_the_lease) {
  acquire(session, "a", "1", 20s);
  EXPECT_EQ(acquire(session, "b", "2").what, verdict::granted);
  const auto refused = acquire(session, "a", "3");
  EXPECT_EQ(refused.what, verdict::busy);
  EXPECT_EQ(refused.left, 20s);
  EXPECT_EQ(renew(session, "a", "1").what, store::standing::kept);
}

// Where the file is not in WAL mode, somebody who reads keeps a writer from committing.
TEST_F(sqlite_session_test, a_batch_that_cannot_be_committed_is_answered_by_nothing) {
  {
    auto session = open();
    migrate(session);
  }
  ASSERT_EQ(pragma_of(file(), "journal_mode = DELETE"), "delete");
  auto writer = open();
  ASSERT_EQ(acquire(writer, "a", "1").what, verdict::granted);
  ASSERT_EQ(release(writer, "a", "1"), release_outcome::released);
  auto reader = open();
  reader.script("BEGIN; SELECT * FROM rowlock_lock");
  const auto batch = all_wanted({"a", "b"});
  const auto failure = error_of([&] { algorithm_.acquire(access(writer, within(50ms)), batch); });
  EXPECT_TRUE(is_error(failure, errc::call_timed_out, {.outcome_is_unknown = false}));
  reader.script("COMMIT");
  EXPECT_EQ(acquire(reader, "a", "2").what, verdict::granted);
  EXPECT_EQ(acquire(reader, "b", "3").what, verdict::granted);
}

TEST_F(with_tables, a_batch_inside_a_transaction_is_granted_and_refused_one_by_one) {
  acquire(session, "b", "before", 20s);
  const auto batch = all_wanted({"a", "b", "c"});
  std::vector<strategies::answer> answers;
  exclusively(session, [&] { answers = algorithm_.acquire(access(session, within(5s)), batch); });
  ASSERT_EQ(verdicts(answers), (std::vector{verdict::granted, verdict::busy, verdict::granted}));
  EXPECT_EQ(answers[1].left, 20s);
}

TEST_F(with_tables, waiting_for_the_files_lock_ends_at_the_deadline_and_on_stop) {
  auto writer = open();
  std::stop_source stop;
  stop.request_stop();
  exclusively(writer, [&] {
    const auto before = base::now();
    const auto failure = error_of([&] { acquire(session, "a", "1", 30s, 50ms); });
    EXPECT_TRUE(is_error(failure, errc::call_timed_out, {.is_retryable = true, .outcome_is_unknown = false}));
    EXPECT_GE(base::now() - before, 50ms);
    const store::lease_ref one{.name = "a", .acquisition = "1"};
    EXPECT_TRUE(throws(errc::cancelled, [&] {
      store::release(access(session, {.deadline = base::now() + 1h, .stop = stop.get_token()}), {&one, 1});
    }));
  });
  EXPECT_EQ(acquire(session, "a", "1").what, verdict::granted);
}

TEST_F(with_tables, a_transaction_that_throws_leaves_nothing) {
  const auto fails = [&] {
    session.script("DELETE FROM rowlock_migration");
    throw std::runtime_error{"oops"};
  };
  EXPECT_THROW(exclusively(session, fails), std::runtime_error);
  EXPECT_NO_THROW(store::require_fit_schema(access(session, within(5s)), schema_));
}

TEST_F(with_tables, a_full_disk_is_an_error_that_says_so_and_harms_nothing) {
  ASSERT_EQ(acquire(session, "a", "1").what, verdict::granted);
  session.script("PRAGMA max_page_count = 1");  // SQLite takes what there is already
  std::optional<error> failure;
  for (int i = 0; i < 10'000 && !failure; ++i) {
    const std::string name = "filler " + std::to_string(i);
    failure = error_of([&] { acquire(session, name.c_str(), name.c_str()); });
  }
  ASSERT_TRUE(
      is_error(failure, errc::database_error, {.outcome_is_unknown = false, .says = {"full; free some space"}}));
  EXPECT_EQ(failure->native_code(), SQLITE_FULL);
  EXPECT_EQ(renew(session, "a", "1").what, store::standing::kept);
  EXPECT_EQ(release(session, "a", "1"), release_outcome::released);
}

TEST_F(with_tables, other_connections_commits_change_the_count_and_own_ones_do_not) {
  auto other = open();
  const auto before = session.change_count(within(1s));
  acquire(session, "a", "1");
  EXPECT_EQ(session.change_count(within(1s)), before);
  acquire(other, "b", "2");
  EXPECT_NE(session.change_count(within(1s)), before);
}

TEST_F(sqlite_session_test, a_new_file_that_many_open_at_once_becomes_wal) {
  std::vector<std::jthread> threads;
  std::atomic<int> opened{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      auto session = open();
      migrate(session);
      ++opened;
    });
  threads.clear();
  EXPECT_EQ(opened, 8);
  EXPECT_EQ(pragma_of(file(), "journal_mode"), "wal");
}

}  // namespace
}  // namespace rowlock
