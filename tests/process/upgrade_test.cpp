#include <gtest/gtest.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/roles.hpp"
#include "process/visits.hpp"
#include "server/steps.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

// A rolling deploy: programs of the first schema go on, while others migrate, and programs of this library join them.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using store::release_outcome;
using store::standing;
using strategies::verdict;

constexpr int visits_before = 10;  // of each old program
constexpr auto breath = 5ms;       // between two visits, so that others have a chance: the old ones do not go by turns
constexpr std::size_t visits_after = 5;  // of them all, when the new ones have done theirs

/// The texts of older schemas are ours, but for a release that asks for no mark. `telling`: a further column of it.
dialect::table with_old_release(const dialect::table& ours, std::string_view telling) {
  std::vector<dialect::step> all;
  for (std::size_t v = 0; v < dialect::table::size; ++v) {
    auto& each = all.emplace_back(ours[static_cast<dialect::verb>(v)]);
    each.verb = static_cast<dialect::verb>(v);  // also of one that this database does not need
    const auto& alone = ours[dialect::verb::release_alone];
    if (each.verb == dialect::verb::release_alone) each = {.verb = each.verb};
    if (each.verb != dialect::verb::release || !alone.act) continue;
    each.act = dialect::replaced(*alone.act, " AND NOT waiting", "");
    if (each.act->find("RETURNING") != std::string::npos) each.act->append(telling);
  }
  return {all, "rowlock_", ours.can()};
}

dialect::table without_waiters(const dialect::table& ours) { return with_old_release(ours, {}); }

/// Sends what a program of the first schema does, and neither asks for the schema nor knows of waiters. One lock at a
/// time.
class old_program {
 public:
  explicit old_program(const std::string& url, const steps::revision& texts = without_waiters)
      : steps_{url, {}, texts} {}

  /// Asks until it has it.
  fencing_token acquire(const std::string& name) {
    fencing_token token;
    insist([&] {
      acquisition_ = "old/" + std::to_string(::getpid()) + "/" + std::to_string(++attempts_);
      const strategies::acquire_args one{.name = name,
                                         .owner = "old:host:1:1",
                                         .thread = "1",
                                         .acquisition = acquisition_,
                                         .note = {},
                                         .lease = lease};
      const auto answer = steps_.acquire({&one, 1}).at(0);
      token = answer.token;
      return answer.what == verdict::granted;
    });
    return token;
  }
  bool renew(const std::string& name) {
    auto what = standing::inconclusive;
    insist([&] {
      const store::lease_ref mine{.name = name, .acquisition = acquisition_, .lease = lease};
      what = steps_.renew({&mine, 1}).at(0).what;
      return what != standing::inconclusive;
    });
    return what == standing::kept;
  }
  bool release(const std::string& name) {
    auto what = release_outcome::pinned;
    insist([&] {
      const store::lease_ref mine{.name = name, .acquisition = acquisition_, .lease = lease};
      what = steps_.release({&mine, 1}).at(0);
      return what != release_outcome::pinned;
    });
    return what == release_outcome::released;
  }

 private:
  static constexpr duration lease = 60s;

  template <class Try>
  static void insist(Try once) {
    static_cast<void>(eventually([&] {
      bool is_done = false;
      const auto e = error_of([&] { return is_done = once(); });
      if (e && !e->is_retryable()) throw error{*e};
      return is_done;
    }));
  }

  steps steps_;
  std::string acquisition_;
  int attempts_ = 0;
};

/// old_program URL FOLDER: counts under the lock until it finds "enough" in the folder. Says "going" when it has begun,
/// and at the end how often it has counted.
int count_as_an_old_program(const std::vector<std::string>& arguments) {
  old_program program{arguments.at(0)};
  const std::filesystem::path folder{arguments.at(1)};
  int count = 0;
  const auto is_enough = [&] { return std::filesystem::exists(folder / "enough"); };
  do {
    const auto token = program.acquire("counter");
    if (!program.renew("counter")) return 2;
    visit(folder, token);
    if (!program.release("counter")) return 3;
    if (++count == visits_before) say("going");
  } while (!eventually(breath, is_enough));
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
  auto young = start(2, "visitor", {url, folder, std::string{to_string(what())}});
  run(young);
  const auto so_far = visits();
  EXPECT_TRUE(eventually([&] { return visits() >= so_far + visits_after; })) << "the old ones have stopped";

  std::ofstream{folder_ / "enough"}.flush();
  std::int64_t by_old = 0;
  for (auto& each : old) {
    by_old += std::stoll(each->read_line());
    EXPECT_EQ(each->wait(), 0);
  }
  EXPECT_EQ(numbers_of(folder_ / "counter"), std::vector<std::int64_t>{by_old + 2 * visits_of_visitor});
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
      : steps_{url, {}, [kind](const dialect::table& ours) { return table_of_second_schema(ours, kind); }} {}

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
  static dialect::table table_of_second_schema(const dialect::table& ours, std::string_view kind) {
    std::vector<dialect::step> all;
    for (std::size_t v = 0; v < dialect::table::size; ++v) {
      auto& each = all.emplace_back(ours[static_cast<dialect::verb>(v)]);
      each.verb = static_cast<dialect::verb>(v);
      if (each.verb == dialect::verb::enqueue) each.act = enqueue_of_second_schema(kind);
    }
    return {all, "rowlock_", ours.can()};
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

/// What programs of the third schema send: a release that looks for tickets whatever the row says.
dialect::table table_of_third_schema(const dialect::table& ours) {
  return with_old_release(ours, R"(, (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM (
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
  old_program old{db().url(), table_of_third_schema};
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

// A lock that a transaction holds keeps the tables from being changed: tests/server/upgrade_test.cpp.
constexpr strategy by_leases[] = {strategy::unique_index, strategy::version_cas};
class upgrade_under_waiters : public on_each_database_with<strategy> {};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(upgrade_under_waiters, by_leases);

TEST_P(upgrade_under_waiters, leaves_holders_and_waiters_alone) {
  auto locks = connect();
  auto held = locks.acquire("job", {.strategy = what()});
  background waiter{[&](std::stop_token stop) {
    return locks.acquire("job", {.strategy = what(), .fairness = fairness::fifo, .note = "deploy"}, std::move(stop));
  }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  const auto ticket = locks.waiters("job").at(0).ticket;
  EXPECT_FALSE(waiter.is_done_within(200ms)) << "it has tried, and asks nothing for a while";
  db().return_to_second_schema();
  connect().migrate();
  EXPECT_EQ(locks.waiters("job").at(0).ticket, ticket);
  EXPECT_FALSE(held.lost().stop_requested());
  const auto token = held.token();
  held.release();
  EXPECT_GT(waiter.get().token(), token);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

}  // namespace
}  // namespace rowlock::test
