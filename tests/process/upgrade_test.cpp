#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>

#include "process/process_test.hpp"
#include "process/visits.hpp"
#include "support/next_release.hpp"
#include "support/tier.hpp"

// A rolling deploy: old programs go on, while others migrate, and new programs join them.

namespace rowlock::test {
namespace {

// A lock that a transaction holds keeps the tables from being changed: tests/server/upgrade_test.cpp.
constexpr strategy by_leases[] = {strategy::unique_index, strategy::version_cas};

class upgrade : public on_each_database_with<strategy> {};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(upgrade, by_leases);

/// patient_waiter URL STRATEGY: waits for its turn, and says with which token it came.
int wait_for_a_turn(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const auto held =
      locks.acquire("job", {.strategy = strategy_named(arguments.at(1)), .fairness = fairness::fifo, .note = "deploy"});
  say(std::to_string(held.token().value()));
  return 0;
}

const role_registration patient_waiter_role{"patient_waiter", wait_for_a_turn};

TEST_P(upgrade, leaves_holders_and_waiters_alone) {
  auto locks = connect();
  auto held = locks.acquire("job", {.strategy = what()});
  const auto row = db().row("job").value();
  child_process waiter{"patient_waiter", {db().url(), std::string{to_string(what())}}};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  const auto ticket = locks.waiters("job").at(0).ticket;
  const auto gone = db().enqueue("job");
  db().erase_ticket(gone);

  auto next = connect_next_release(db().url());
  EXPECT_TRUE(throws(errc::schema_older, [&] { static_cast<void>(next.waiters("job")); }));
  next.migrate();
  const auto seen = next.waiters("job");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].ticket, ticket);
  EXPECT_EQ(seen[0].note, "deploy");
  EXPECT_EQ(db().row("job").value().acquisition, row.acquisition);
  EXPECT_FALSE(next.try_acquire("job", {.strategy = what()}).has_value());
  background last{[&](std::stop_token stop) {
    return next.acquire("job", {.strategy = what(), .fairness = fairness::fifo}, std::move(stop));
  }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 2; }));
  EXPECT_GT(next.waiters("job").at(1).ticket, gone) << "no number is given twice";

  EXPECT_NO_THROW(held.extend(1min));
  EXPECT_FALSE(held.lost().stop_requested());
  const auto token = held.token();
  held.release();
  const auto second = std::stoll(waiter.read_line());
  EXPECT_GT(second, token.value());
  EXPECT_EQ(waiter.wait(), 0);
  EXPECT_GT(last.get().token().value(), second);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

TEST_P(upgrade, that_serves_old_programs_no_longer_lets_them_finish_and_refuses_their_next_start) {
  auto running = connect();
  auto held = running.acquire("job", {.strategy = what()});
  auto next = connect_next_release(db().url(), {}, next_schema(db().url()));
  next.migrate();
  EXPECT_NO_THROW(held.extend(1min));
  EXPECT_FALSE(next.try_acquire("job", {.strategy = what()}).has_value());
  held.release();
  EXPECT_TRUE(running.try_acquire("job", {.strategy = what()}).has_value());

  auto started = connect();
  const auto e = error_of([&] { return started.try_acquire("job", {.strategy = what()}); });
  ASSERT_TRUE(is_error(e, errc::schema_newer));
  const int newest = db().newest_migration();
  EXPECT_EQ(std::string{e->what()}, "the database has rowlock's schema " + std::to_string(newest) +
                                        ", but this library expects " + std::to_string(newest - 1) +
                                        " and is no longer served by that schema; use a newer rowlock");
  EXPECT_TRUE(throws(errc::schema_newer, [&] { started.migrate(); }));
  EXPECT_TRUE(next.try_acquire("job", {.strategy = what()}).has_value());
}

constexpr int hot_names = 3;
constexpr auto longest_wait = 10s * slowness;
constexpr std::chrono::steady_clock::duration breath = 5ms;  // between two visits, so that others have a chance

/// What a thread did under load.
struct tally {
  int visits = 0;
  std::chrono::steady_clock::duration longest_wait{};

  std::string text() const {
    return std::to_string(visits) + " " +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(longest_wait).count());
  }
};

/// Counts under the locks of a few names, by each strategy, until it finds "enough" in the folder.
tally count_under_load(client& locks, const std::filesystem::path& folder, int first) {
  tally out;
  for (; !eventually(breath, [&] { return std::filesystem::exists(folder / "enough"); }); ++out.visits) {
    const auto name = std::to_string((first + out.visits) % hot_names);
    const auto by = static_cast<std::size_t>(first + out.visits) % all_strategies.size();
    const stopwatch watch;
    const auto held = locks.acquire(
        name, {.strategy = all_strategies.at(by), .fairness = out.visits % 2 == 0 ? fairness::fifo : fairness::unfair});
    out.longest_wait = std::max(out.longest_wait, watch.elapsed());
    visit(folder / name, held.token());
  }
  return out;
}

/// With two threads. Says "joined" when it has begun, and the tally of each thread at the end.
int join_the_crowd(client& locks, const std::filesystem::path& folder) {
  say("joined");
  background other{[&](const std::stop_token& /*stop*/) { return count_under_load(locks, folder, ::getpid() + 1); }};
  const auto mine = count_under_load(locks, folder, ::getpid());
  say(mine.text());
  say(other.get().text());
  return 0;
}

/// old_crowd URL FOLDER
int crowd_as_an_old_program(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  return join_the_crowd(locks, arguments.at(1));
}

/// new_crowd URL FOLDER: as soon as the tables are those of the next release.
int crowd_as_a_new_program(const std::vector<std::string>& arguments) {
  auto locks = connect_next_release(arguments.at(0));
  const auto fits = [&] { return !error_of([&] { locks.check(); }); };
  return eventually(fits) ? join_the_crowd(locks, arguments.at(1)) : 1;
}

/// next_migrator URL
int migrate_to_next_release(const std::vector<std::string>& arguments) {
  if (!goes_with_the_others()) return 1;
  auto locks = connect_next_release(arguments.at(0));
  locks.migrate();
  locks.check();
  return 0;
}

const role_registration old_crowd_role{"old_crowd", crowd_as_an_old_program};
const role_registration new_crowd_role{"new_crowd", crowd_as_a_new_program};
const role_registration next_migrator_role{"next_migrator", migrate_to_next_release};

class upgrade_under_load : public on_each_database {
 protected:
  upgrade_under_load() {
    connect_patiently(db().url()).migrate();
    for (int i = 0; i < hot_names; ++i) std::filesystem::create_directory(folder_of(i));
  }

  std::filesystem::path folder_of(int number) const { return folder_ / std::to_string(number); }
  crew start(int number, const char* role) const {
    crew out;
    for (int i = 0; i < number; ++i) join(out, role, {db().url(), folder_.path().string()});
    return out;
  }
  /// By the files that only grow: the others may be read while they are being written.
  std::size_t visits() const {
    std::size_t out = 0;
    for (int i = 0; i < hot_names; ++i) out += numbers_of(folder_of(i) / "tokens").size();
    return out;
  }
  void let_pass(int number) const {
    const auto enough = visits() + static_cast<std::size_t>(number);
    ASSERT_TRUE(eventually([&] { return visits() >= enough; })) << "they have stopped";
  }
  void migrate_by_many() const {
    auto all = start(3, "next_migrator");
    go_together(all);
    expect_good_ends(all);
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
  auto all = start(2, "old_crowd");
  for (auto& each : all) each->expect("joined");
  let_pass(50);
  auto joining = start(3, "new_crowd");
  auto next = connect_next_release(db().url());
  for (const auto by : all_strategies)
    EXPECT_TRUE(throws(errc::schema_older, [&] { static_cast<void>(next.try_acquire("0", {.strategy = by})); }));
  migrate_by_many();
  for (auto& each : joining) {
    each->expect("joined");
    all.push_back(std::move(each));
  }
  for (int i = 0; i < many(20, 1); ++i) let_pass(200);

  std::ofstream{folder_ / "enough"}.flush();
  std::int64_t expected = 0;
  for (auto& each : all) expected += tally_of(*each) + tally_of(*each);
  expect_good_ends(all);
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

}  // namespace
}  // namespace rowlock::test
