#include <gtest/gtest.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/old_program.hpp"
#include "process/roles.hpp"
#include "process/visits.hpp"
#include "server/steps.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "support/slowness.hpp"
#include "support/tier.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

// A rolling deploy: programs of the first schema go on, while others migrate, and programs of this library join them.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using store::release_outcome;
using strategies::verdict;

constexpr int visits_before = 10;  // of each old program
// Between two visits, so that others have a chance: the old ones do not go by turns.
constexpr std::chrono::steady_clock::duration breath = 5ms;
constexpr std::int64_t visits_of_young = 4;  // of each new one: a few, since the old ones tell nobody that they let go
constexpr std::size_t visits_after = 5;      // of them all, when the new ones have done theirs

/// old_program URL FOLDER: counts under the lock until it finds "enough" in the folder. Says "going" when it has begun,
/// and at the end how often it has counted.
int count_as_an_old_program(const std::vector<std::string>& arguments) {
  old_program program{arguments.at(0)};
  const std::filesystem::path folder{arguments.at(1)};
  int count = 0;
  const auto is_enough = [&] { return std::filesystem::exists(folder / "enough"); };
  stopwatch held;
  do {
    const auto token = program.acquire("counter");
    held = {};
    if (!program.renew("counter")) return 2;
    visit(folder, token);
    if (!program.release("counter")) return 3;
    if (++count == visits_before) say("going");
  } while (!eventually(std::max(breath, 3 * held.elapsed()), is_enough));
  say(std::to_string(count));
  return 0;
}

const role_registration old_program_role{"old_program", count_as_an_old_program};

class upgrade : public on_each_database_with<strategy> {
 protected:
  upgrade() { db().return_to_first_schema(); }

  using crew = std::vector<std::unique_ptr<child_process>>;
  static crew start(int number, const char* role, const std::vector<std::string>& arguments) {
    crew out;
    for (int i = 0; i < number; ++i) out.push_back(std::make_unique<child_process>(role, arguments));
    return out;
  }
  static void run(crew& all) {
    for (auto& each : all) each->expect("ready");
    for (auto& each : all) each->send("go");
    for (auto& each : all) EXPECT_EQ(each->wait(), 0);
  }
  /// By the file that only grows: the other may be read while it is being written.
  std::size_t visits() const { return numbers_of(folder_ / "tokens").size(); }

  const temp_folder folder_{};
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(upgrade, all_strategies);

TEST_P(upgrade, goes_on_while_programs_of_both_versions_run) {
  const auto url = db().url();
  const auto folder = folder_.path().string();
  auto old = start(2, "old_program", {url, folder});
  for (auto& each : old) each->expect("going");
  EXPECT_TRUE(
      throws(errc::schema_older, [&] { static_cast<void>(connect().try_acquire("counter", {.strategy = what()})); }));

  crew migrators;
  for (const std::string name : {"one", "two", "three"})
    migrators.push_back(std::make_unique<child_process>("migrator", std::vector{url, name}));
  run(migrators);
  auto young = start(2, "visitor", {url, folder, std::string{to_string(what())}, std::to_string(visits_of_young)});
  run(young);
  const auto so_far = visits();
  EXPECT_TRUE(eventually([&] { return visits() >= so_far + visits_after; })) << "the old ones have stopped";

  std::ofstream{folder_ / "enough"}.flush();
  std::int64_t by_old = 0;
  for (auto& each : old) {
    by_old += std::stoll(each->read_line());
    EXPECT_EQ(each->wait(), 0);
  }
  EXPECT_EQ(numbers_of(folder_ / "counter"),
            std::vector<std::int64_t>{by_old + visits_of_young * 2 * threads_of_visitor});
  EXPECT_TRUE(grow(numbers_of(folder_ / "tokens")));
}

TEST_P(upgrade, leaves_a_lease_of_an_old_program_alone) {
  old_program holder{db().url()};
  const auto token = holder.acquire("kept");
  const auto row = db().row("kept").value();
  auto locks = connect();
  locks.migrate();
  EXPECT_EQ(db().row("kept").value().acquisition, row.acquisition);
  EXPECT_FALSE(locks.try_acquire("kept", {.strategy = what()}).has_value());
  EXPECT_TRUE(holder.renew("kept"));
  EXPECT_TRUE(holder.release("kept"));
  const auto next = locks.try_acquire("kept", {.strategy = what()});
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
}

// --- from the second schema ------------------------------------------------------------------------------------------

/// What programs of the second schema send to queue, word for word.
std::string enqueue_of_second_schema(std::string_view kind) {
  if (kind == "postgresql")
    return R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at)
SELECT $1::text, $2::text, $3::text, $4::text, clock_timestamp(),
  clock_timestamp() + $5::bigint * interval '1 microsecond' WHERE true AND set_config('synchronous_commit', 'off', true) IS NOT NULL
RETURNING attempt, ticket)";
  if (kind == "mysql")
    return R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at)
VALUES (?1, ?2, ?3, ?4, SYSDATE(6), SYSDATE(6) + INTERVAL ?5 MICROSECOND) /*M!100600 RETURNING attempt, ticket */)";
  return "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
         "VALUES (?1, ?2, ?3, ?4, clock_us(), clock_us() + ?5) RETURNING attempt, ticket";
}

/// Waits as a program of the second schema does: all else that it sends about tickets is as today.
class old_waiter {
 public:
  old_waiter(const std::string& url, std::string_view kind)
      : steps_{url, {}, [kind](const sheets::sheet& ours) { return table_of_second_schema(ours, kind); }} {}

  std::int64_t enqueue(std::string_view name, std::string_view attempt) {
    return core::to_integer(
        steps_.enqueue({.name = name, .owner = "old:host:1:0123456789abcdef", .thread = "1", .attempt = attempt}));
  }
  bool refresh(std::string_view name, std::string_view attempt, std::int64_t ticket) {
    const auto one = ref(name, attempt, ticket);
    return steps_.refresh_tickets({&one, 1}).at(0).has_ticket;
  }
  bool leave(std::string_view name, std::string_view attempt, std::int64_t ticket) {
    const auto one = ref(name, attempt, ticket);
    return steps_.leave({&one, 1}).at(0);
  }

 private:
  static sheets::sheet table_of_second_schema(const sheets::sheet& ours, std::string_view kind) {
    return revised(ours, [&](sheets::step& each) {
      if (each.verb == sheets::verb::enqueue) each.write = enqueue_of_second_schema(kind);
    });
  }
  static store::ticket_ref ref(std::string_view name, std::string_view attempt, std::int64_t ticket) {
    return {.name = name, .attempt = attempt, .number = core::ticket_number{ticket}};
  }

  steps steps_;
};

class upgrade_from_second : public on_each_database {
 protected:
  upgrade_from_second() { connect().migrate(); }

  client connect() const { return connect_patiently(db().url(), {}); }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(upgrade_from_second);

TEST_P(upgrade_from_second, keeps_the_tickets_and_gives_no_number_twice) {
  db().return_to_second_schema();
  old_waiter old{db().url(), GetParam().name};
  const auto first = old.enqueue("job", "a");
  const auto second = old.enqueue("job", "b");
  const auto gone = old.enqueue("job", "c");
  db().erase_ticket(gone);
  auto locks = connect();
  EXPECT_TRUE(throws(errc::schema_older, [&] { static_cast<void>(locks.waiters("job")); }));
  locks.migrate();
  const auto seen = locks.waiters("job");
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].ticket, first);
  EXPECT_EQ(seen[1].ticket, second);
  for (const auto& each : seen) EXPECT_EQ(each.note, "");
  EXPECT_GT(db().enqueue("job"), gone);
  EXPECT_TRUE(old.refresh("job", "a", first));
  EXPECT_TRUE(old.leave("job", "a", first));
  EXPECT_EQ(locks.waiters("job").at(0).ticket, second);
}

TEST_P(upgrade_from_second, serves_programs_of_that_schema) {
  old_waiter old{db().url(), GetParam().name};
  auto locks = connect();
  const auto ticket = old.enqueue("job", "a");
  const auto seen = locks.waiters("job");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].ticket, ticket);
  EXPECT_EQ(seen[0].note, "");
  EXPECT_FALSE(locks.try_acquire("job", {.fairness = fairness::fifo}).has_value()) << "it is the other's turn";
  EXPECT_TRUE(old.refresh("job", "a", ticket));
  EXPECT_TRUE(old.leave("job", "a", ticket));
  EXPECT_TRUE(locks.try_acquire("job", {.fairness = fairness::fifo}).has_value());
}

// --- from the third schema
// --------------------------------------------------------------------------------------------

/// What programs of the third schema send: a release that looks for tickets whatever the row says; tickets by which
/// nothing is granted, and a look at the queue that knows of no other ones.
sheets::sheet table_of_third_schema(const sheets::sheet& ours) {
  static constexpr std::string_view not_yet[] = {", lease",
                                                 ", $7::bigint",
                                                 ", ?7",
                                                 "AND b.attempt IS DISTINCT FROM l.acquisition",
                                                 "AND COALESCE(b.lease, 1) <> 0",
                                                 "AND (COALESCE(o.lease, 1) <> 0 OR o.attempt = l.acquisition)",
                                                 "AND q.lease IS NOT 0",
                                                 "AND (lease IS NOT 0 OR attempt = acquisition)"};
  const auto queueing = revised(table_of_fifth_schema(ours), [](sheets::step& each) {
    if (each.verb == sheets::verb::enqueue || each.verb == sheets::verb::turn)
      for (auto* text : {&each.read, &each.write, &each.batch})
        for (const auto& words : not_yet)
          if (*text) *text = sheets::replaced(**text, words, "");
    if (each.batch && each.verb == sheets::verb::refresh_ticket)
      each.batch = sheets::replaced(
          *each.batch,
          "AND NOT EXISTS (SELECT FROM rowlock_lock l WHERE l.name = b.name AND l.acquisition = b.attempt)", "");
  });
  return with_old_release(queueing, R"(, (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM (
    SELECT q.owner, q.name FROM rowlock_waiter q
    WHERE q.name = $1::text AND q.expires_at > clock_timestamp() ORDER BY q.ticket LIMIT 1) q
  WHERE right(q.owner, 16) <> left($2::text, 16)))");
}

class upgrade_from_third : public on_each_database {
 protected:
  client connect() const { return connect_patiently(db().url(), {}); }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(upgrade_from_third);

TEST_P(upgrade_from_third, programs_of_that_schema_go_on_by_turns_with_new_ones) {
  auto locks = connect();
  locks.migrate();
  old_program old{db().url(), {.texts = table_of_third_schema}};
  for (int turn = 0; turn < 5; ++turn) {
    const auto token = old.acquire("job");
    background waiter{[&](std::stop_token stop) { return locks.acquire("job", {}, std::move(stop)); }};
    ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
    ASSERT_TRUE(old.renew("job"));
    ASSERT_TRUE(old.release("job"));
    auto next = waiter.get();
    EXPECT_GT(next.token(), token);
    next.release();
  }
}

TEST_P(upgrade_from_third, waiters_of_that_schema_have_their_turn) {
  auto locks = connect();
  locks.migrate();
  auto held = locks.acquire("job");
  const auto token = held.token();
  old_waiter old{db().url(), GetParam().name};
  const auto ticket = old.enqueue("job", "a");
  background waiter{
      [&](std::stop_token stop) { return locks.acquire("job", {.fairness = fairness::fifo}, std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 2; }));
  held.release();
  EXPECT_FALSE(waiter.is_done_within(100ms)) << "it is the other's turn";
  EXPECT_TRUE(old.leave("job", "a", ticket));
  EXPECT_GT(waiter.get().token(), token);
}

// --- from the fifth schema -------------------------------------------------------------------------------------------

class upgrade_from_fifth : public on_each_database {
 protected:
  client connect() const { return connect_patiently(db().url(), {}); }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(upgrade_from_fifth);

TEST_P(upgrade_from_fifth, programs_of_that_schema_see_a_shared_name_as_leased) {
  auto locks = connect();
  locks.migrate();
  steps old{db().url(), {}, table_of_fifth_schema};
  const auto attempt = [&](std::string_view acquisition, strategy by = strategy::unique_index) {
    const strategies::acquire_args one{.name = "job",
                                       .owner = "old:host:1:0123456789abcdef",
                                       .thread = "1",
                                       .acquisition = acquisition,
                                       .note = {},
                                       .lease = 60s,
                                       .liveness = by == strategy::for_update ? "a file" : ""};
    return old.acquire(one, by);
  };
  auto one = locks.acquire_shared("job");
  auto two = locks.acquire_shared("job");
  for (const auto by : all_strategies) EXPECT_EQ(attempt("a", by).what, verdict::busy) << to_string(by);
  one.release();
  for (const auto by : all_strategies) EXPECT_EQ(attempt("b", by).what, verdict::busy) << to_string(by);
  EXPECT_TRUE(locks.try_acquire_shared("job"));
  const auto last = two.token();
  two.release();
  const auto granted = attempt("c");
  EXPECT_EQ(granted.what, verdict::granted);
  EXPECT_GT(granted.token, last);
  EXPECT_FALSE(locks.try_acquire_shared("job"));
  const store::lease_ref theirs{.name = "job", .acquisition = "c", .lease = 60s};
  EXPECT_EQ(old.release({&theirs, 1}).at(0), release_outcome::released);
  EXPECT_TRUE(locks.try_acquire_shared("job"));
}

TEST_P(upgrade_from_fifth, programs_of_that_schema_take_turns_with_those_who_share) {
  auto locks = connect();
  locks.migrate();
  old_program old{db().url(), {.texts = table_of_fifth_schema}};
  for (int turn = 0; turn < 5; ++turn) {
    const auto token = old.acquire_in_turn("job");
    background reader{[&](std::stop_token stop) { return locks.acquire_shared("job", {}, std::move(stop)); }};
    ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
    ASSERT_TRUE(old.renew("job"));
    ASSERT_TRUE(old.release("job"));
    auto next = reader.get();
    EXPECT_GT(next.token(), token);
    next.release();
  }
}

TEST_P(upgrade_from_fifth, programs_of_that_schema_free_all_who_share) {
  auto locks = connect();
  locks.migrate();
  steps old{db().url(), {}, table_of_fifth_schema};
  const auto one = locks.acquire_shared("job", {.lease = 1s});
  const auto two = locks.acquire_shared("job", {.lease = 1s});
  ASSERT_TRUE(old.free("job", two.token()));
  EXPECT_TRUE(eventually([&] { return one.lost().stop_requested() && two.lost().stop_requested(); }));
  EXPECT_EQ(one.why_lost(), loss_reason::forced);
  EXPECT_TRUE(locks.try_acquire("job"));
}

constexpr int hot_names = 3;
constexpr auto longest_wait = 10s * slowness;

/// What a thread did under load.
struct tally {
  int visits = 0;
  std::chrono::steady_clock::duration longest_wait{};

  std::string text() const {
    return std::to_string(visits) + " " +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(longest_wait).count());
  }
};

/// Counts under the locks of a few names until it finds "enough" in the folder. `take` waits for the lock of a name,
/// calls back with the token, and lets go.
template <class Take>
tally count_under_load(const std::filesystem::path& folder, int first, Take take) {
  tally out;
  for (; !eventually(breath, [&] { return std::filesystem::exists(folder / "enough"); }); ++out.visits) {
    const auto name = std::to_string((first + out.visits) % hot_names);
    const stopwatch watch;
    take(name, out.visits, [&](fencing_token token) {
      out.longest_wait = std::max(out.longest_wait, watch.elapsed());
      visit(folder / name, token);
    });
  }
  return out;
}

/// old_crowd URL FOLDER: as a program of the third schema, every other time in turn. Says its tally at the end.
int crowd_as_an_old_program(const std::vector<std::string>& arguments) {
  old_program program{arguments.at(0), {.texts = table_of_third_schema}};
  const auto done = count_under_load(arguments.at(1), ::getpid(), [&](const auto& name, int count, auto&& counting) {
    counting(count % 2 == 0 ? program.acquire(name) : program.acquire_in_turn(name));
    if (!program.renew(name) || !program.release(name)) throw std::runtime_error{"a lock was lost"};
  });
  say(done.text());
  return 0;
}

/// young_crowd URL FOLDER: with two threads, as soon as the tables are those of this library. Says "joined", and the
/// tally of each thread.
int crowd_as_a_young_program(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const auto fits = [&] { return !error_of([&] { return locks.check(), true; }); };
  if (!eventually(fits)) return 1;
  say("joined");
  const auto count = [&](int first) {
    return count_under_load(arguments.at(1), first, [&](const auto& name, int count, auto&& counting) {
      const auto by = static_cast<std::size_t>(first + count) % all_strategies.size();
      const auto held = locks.acquire(
          name, {.strategy = all_strategies.at(by), .fairness = count % 2 == 0 ? fairness::fifo : fairness::unfair});
      counting(held.token());
    });
  };
  background other{[&](const std::stop_token& /*stop*/) { return count(::getpid() + 1); }};
  const auto mine = count(::getpid());
  say(mine.text());
  say(other.get().text());
  return 0;
}

const role_registration old_crowd_role{"old_crowd", crowd_as_an_old_program};
const role_registration young_crowd_role{"young_crowd", crowd_as_a_young_program};

class upgrade_under_load : public on_each_database {
 protected:
  upgrade_under_load() {
    connect_patiently(db().url()).migrate();
    db().return_to_third_schema();
    for (int i = 0; i < hot_names; ++i) std::filesystem::create_directory(folder_of(i));
  }

  std::filesystem::path folder_of(int number) const { return folder_ / std::to_string(number); }
  using crew = std::vector<std::unique_ptr<child_process>>;
  crew start(int number, const char* role) const {
    crew out;
    for (int i = 0; i < number; ++i)
      out.push_back(
          std::make_unique<child_process>(role, std::vector<std::string>{db().url(), folder_.path().string()}));
    return out;
  }
  std::size_t visits() const {
    std::size_t out = 0;
    for (int i = 0; i < hot_names; ++i) out += numbers_of(folder_of(i) / "tokens").size();
    return out;
  }
  void let_pass(int number) const {
    const auto enough = visits() + static_cast<std::size_t>(number);
    ASSERT_TRUE(eventually([&] { return visits() >= enough; })) << "they have stopped";
  }
  /// How often a thread of that process has counted.
  std::int64_t tally_of(child_process& of) {
    std::istringstream words{of.read_line()};
    std::int64_t count = 0;
    std::int64_t wait = 0;
    words >> count >> wait;
    EXPECT_GT(count, 0);
    EXPECT_LE(std::chrono::milliseconds{wait}, longest_wait);
    longest_ms_ = std::max(longest_ms_, wait);
    return count;
  }

  const temp_folder folder_{};
  std::int64_t longest_ms_ = 0;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(upgrade_under_load);

TEST_P(upgrade_under_load, loses_no_count_and_keeps_nobody_waiting) {
  auto old = start(4, "old_crowd");
  let_pass(50);
  auto young = start(3, "young_crowd");
  auto locks = connect_patiently(db().url());
  EXPECT_TRUE(throws(errc::schema_older, [&] { locks.check(); }));
  locks.migrate();
  for (auto& each : young) each->expect("joined");
  for (int i = 0; i < many(20, 1); ++i) let_pass(200);

  std::ofstream{folder_ / "enough"}.flush();
  std::int64_t expected = 0;
  for (auto& each : old) expected += tally_of(*each);
  for (auto& each : young) expected += tally_of(*each) + tally_of(*each);
  for (const auto* crowd : {&old, &young})
    for (const auto& each : *crowd) EXPECT_EQ(each->wait(), 0);
  RecordProperty("longest_ms", std::to_string(longest_ms_));

  std::int64_t counted = 0;
  for (int i = 0; i < hot_names; ++i) {
    counted += numbers_of(folder_of(i) / "counter").at(0);
    EXPECT_TRUE(grow(numbers_of(folder_of(i) / "tokens")));
    EXPECT_FALSE(db().row(std::to_string(i)).value().owner) << "it is released";
  }
  EXPECT_EQ(counted, expected);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

// A lock that a transaction holds keeps the tables from being changed: tests/server/upgrade_test.cpp.
constexpr strategy by_leases[] = {strategy::unique_index, strategy::version_cas};

/// patient_waiter URL STRATEGY: waits for its turn, and says with which token it came.
int wait_for_a_turn(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const auto held =
      locks.acquire("job", {.strategy = strategy_named(arguments.at(1)), .fairness = fairness::fifo, .note = "deploy"});
  say(std::to_string(held.token().value()));
  return 0;
}

const role_registration patient_waiter_role{"patient_waiter", wait_for_a_turn};

class upgrade_under_waiters : public on_each_database_with<strategy> {};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(upgrade_under_waiters, by_leases);

TEST_P(upgrade_under_waiters, leaves_holders_and_waiters_alone) {
  if (is_on("sqlite")) GTEST_SKIP() << "its waiter looks at each commit, and needs its columns";
  auto locks = connect();
  auto held = locks.acquire("job", {.strategy = what()});
  child_process waiter{"patient_waiter", {db().url(), std::string{to_string(what())}}};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  const auto ticket = locks.waiters("job").at(0).ticket;
  // It is of this library, and would fail on the tables of an older one: however long this takes, it asks nothing, and
  // its ticket is valid.
  waiter.pause();
  db().kill_waiters(-1h);
  db().return_to_second_schema();
  connect().migrate();
  waiter.resume();
  EXPECT_EQ(locks.waiters("job").at(0).ticket, ticket);
  EXPECT_FALSE(held.lost().stop_requested());
  const auto token = held.token();
  held.release();
  EXPECT_GT(std::stoll(waiter.read_line()), token.value());
  EXPECT_EQ(waiter.wait(), 0);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

}  // namespace
}  // namespace rowlock::test
