#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "history/player.hpp"
#include "history/round.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/slowness.hpp"
#include "support/tier.hpp"
#include "testkit/eventually.hpp"

#ifdef ROWLOCK_WITH_MYSQL
#include "cluster/mysql_group.hpp"
#include "cluster/mysql_pair.hpp"
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql/postgresql_server.hpp"
#endif

// A primary crashes, and a standby without its last commits takes its place.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

constexpr auto quarantine = 4s;
constexpr auto long_quarantine = 12s;  // a lease outlives a failover on a busy machine

template <class Pair>
bool can_run() {
#ifdef ROWLOCK_WITH_MYSQL
  if (std::is_same_v<Pair, mysql_pair<mysql_member>>) return mysql_member::can_run();
#endif
  return true;
}

/// Players on a pair of servers that fails over again and again.
template <class Pair>
class storm {
 public:
  storm() { round_.let_commits_be_lost(); }

  /// Plays for that time, and until there were so many failovers.
  void play(std::chrono::seconds time, int failovers) {
    round_.play(time, {[&](std::mt19937& random) { fail_over(random); }}, failovers);
  }
  round& players() { return round_; }
  client& locks() { return locks_; }
  int times() const { return failovers_; }

  void report(const verdict_of_history& found) const {
    const auto whole = [](auto time) { return std::chrono::round<std::chrono::milliseconds>(time).count(); };
    std::cout << failovers_ << " failovers, " << found.beliefs << " acquisitions, " << found.double_holders
              << " double holders for " << whole(std::chrono::microseconds{found.longest_overlap})
              << " ms at most; granted " << whole(soonest_grant_) << " to " << whole(latest_grant_)
              << " ms after the promotion\n";
  }
  auto soonest_grant() const { return soonest_grant_; }
  auto latest_grant() const { return latest_grant_; }

 private:
  void fail_over(std::mt19937& random) {
    if (failovers_++ > 0) {
      servers_.rejoin();
      let_pass_at_most(1s, random);
    }
    servers_.cut_off_standby();
    std::this_thread::sleep_for(300ms);
    let_pass_at_most(3700ms, random);
    auto paused = random() % 2 == 0 ? round_.pause_one(random) : nullptr;
    servers_.fail_over();
    const stopwatch since;
    EXPECT_TRUE(eventually([&] { return succeeds([&] { return locks_.try_acquire("first", {.lease = 1s}); }); }));
    soonest_grant_ = std::min(soonest_grant_, since.elapsed());
    latest_grant_ = std::max(latest_grant_, since.elapsed());
    paused.reset();
  }

  Pair servers_;
  std::unique_ptr<server_database> place_ = servers_.open();
  round round_{place_->url(), place_->url(), {std::string{long_holds} + "=on"}};
  client locks_ = client::connect(place_->url(), {.call_timeout = 3s, .observer = silent()});
  int failovers_ = 0;
  std::chrono::steady_clock::duration soonest_grant_ = std::chrono::steady_clock::duration::max();
  std::chrono::steady_clock::duration latest_grant_{};
};

/// A name has two holders by the time the storm has struck so often.
template <class Storm>
void expect_two_holders(Storm& one, int most) {
  verdict_of_history found;
  while (one.times() < most && found.double_holders == 0) {
    one.play(0s, 1);
    found = one.players().found(true);
  }
  one.report(found);
  EXPECT_GT(found.double_holders, 0);
}

template <class Pair>
class soak_of_failovers : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_run<Pair>()) GTEST_SKIP() << "ROWLOCK_TEST_MYSQLD is not set: Debian 12 has no such server";
  }
};

using pairs = testing::Types<
#ifdef ROWLOCK_WITH_MYSQL
    mysql_pair<mariadb_node>, mysql_pair<mysql_member>
#ifdef ROWLOCK_WITH_POSTGRESQL
    ,
#endif
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
    postgresql_pair
#endif
    >;

struct names_of_pairs {
  template <class Pair>
  static std::string GetName(int /*index*/) {  // NOLINT: GoogleTest calls it so
#ifdef ROWLOCK_WITH_POSTGRESQL
    if (std::is_same_v<Pair, postgresql_pair>) return "postgresql";
#endif
#ifdef ROWLOCK_WITH_MYSQL
    if (std::is_same_v<Pair, mysql_pair<mysql_member>>) return "mysql9";
#endif
    return "mysql";
  }
};
TYPED_TEST_SUITE(soak_of_failovers, pairs, names_of_pairs);

// Or else the other one shows nothing.
TYPED_TEST(soak_of_failovers, without_a_guard_that_let_two_hold_a_name) {
  if (!is_full_tier() && !is_soak()) GTEST_SKIP() << "it takes long";
  storm<TypeParam> one;
  expect_two_holders(one, 10);
}

TYPED_TEST(soak_of_failovers, with_a_guard) {
  if (!is_full_tier() && !is_soak()) GTEST_SKIP() << "it takes long";
  play_rounds([](std::chrono::seconds time) {
    storm<TypeParam> one;
    static_cast<void>(one.locks().set_guard(quarantine));
    one.play(time, 2);
    one.players().end(true);
    one.report(one.players().found(true));
    EXPECT_LE(one.latest_grant(), quarantine + slack());
  });
}

/// What the database answers first when it is there again.
bool is_granted_at_once(client& locks, const lock_name& name) {
  bool out = false;
  EXPECT_TRUE(
      eventually([&] { return !error_of([&] { return out = locks.try_acquire(name, {.lease = 1s}).has_value(); }); }));
  return out;
}

testing::AssertionResult grants_after_quarantine(client& locks, const lock_name& name, std::optional<held_lock>& to) {
  const stopwatch since;
  const bool is_granted =
      eventually([&] { return succeeds([&] { return (to = locks.try_acquire(name, {.lease = 1s})).has_value(); }); });
  const auto took = std::chrono::round<std::chrono::milliseconds>(since.elapsed());
  const bool is_right = is_granted && took >= long_quarantine - 100ms && took <= long_quarantine + slack();
  return (is_right ? testing::AssertionSuccess() : testing::AssertionFailure())
         << "granted after " << took.count() << " ms";
}

TYPED_TEST(soak_of_failovers, with_a_guard_keep_what_the_standby_knows) {
  TypeParam servers;
  const auto place = servers.open();
  const auto connect = [&] { return client::connect(place->url(), {.call_timeout = 2s, .observer = silent()}); };
  auto locks = connect();
  locks.migrate();
  static_cast<void>(locks.set_guard(long_quarantine));
  auto holder = connect();
  const auto known = holder.acquire("known", {.lease = long_quarantine});
  ASSERT_TRUE(eventually([&] { return servers.has_standby(); }));
  servers.cut_off_standby();
  const auto forgotten = holder.acquire("forgotten", {.lease = long_quarantine});
  servers.fail_over();
  std::optional<held_lock> next;
  EXPECT_TRUE(grants_after_quarantine(locks, "forgotten", next));
  EXPECT_EQ(forgotten.why_lost(), loss_reason::forgotten) << to_string(forgotten.why_lost());
  EXPECT_TRUE(next && next->token() > forgotten.token());
  EXPECT_EQ(known.why_lost(), loss_reason::none) << to_string(known.why_lost());
  for (const bool crashes : {false, true}) {
    crashes ? servers.primary().crash() : servers.primary().stop();
    servers.primary().start();
    EXPECT_TRUE(is_granted_at_once(locks, crashes ? "after a crash" : "after a restart"));
  }
}

#ifdef ROWLOCK_WITH_POSTGRESQL
// Nobody can see that nothing was lost.
TEST(guard_of_synchronous_pair, begins_a_quarantine_by_a_promotion_too) {
  postgresql_pair servers{true};
  const auto place = servers.open();
  auto locks = client::connect(place->url(), {.call_timeout = 2s, .observer = silent()});
  locks.migrate();
  static_cast<void>(locks.set_guard(long_quarantine));
  const auto known = locks.acquire("known", {.lease = long_quarantine});
  servers.fail_over();
  servers.primary().wait_for_standby(false);
  std::optional<held_lock> next;
  EXPECT_TRUE(grants_after_quarantine(locks, "another", next));
  EXPECT_EQ(known.why_lost(), loss_reason::none) << to_string(known.why_lost());
}

/// Players on a server with a relaxed guard, which crashes again and again, and then lacks the last commits.
class storm_of_crashes {
 public:
  storm_of_crashes() {
    round_.let_commits_be_lost();
    server_.write_late();
    // The players' own commits would write those of locks, too.
    default_ = place_->set_default("synchronous_commit", "off");
    static_cast<void>(locks_.set_guard(quarantine, {.relaxed = true}));
    place_->execute("UPDATE rowlock_guard SET relaxed_from = clock_timestamp()");
  }

  void play(std::chrono::seconds time, int crashes) {
    round_.play(time, {[&](std::mt19937& random) { crash(random); }}, crashes);
  }
  round& players() { return round_; }
  server_database& place() { return *place_; }
  int times() const { return crashes_; }
  auto soonest_grant() const { return soonest_grant_; }

  void report(const verdict_of_history& found) const {
    std::cout << crashes_ << " crashes, " << found.beliefs << " acquisitions, " << found.double_holders
              << " double holders; granted " << std::chrono::round<std::chrono::milliseconds>(soonest_grant_).count()
              << " ms after a crash at least\n";
  }

 private:
  void crash(std::mt19937& random) {
    ++crashes_;
    let_pass_at_most(3s, random);
    auto paused = round_.pause_one(random);
    const stopwatch since;
    switch (random() % 3) {
      case 0:
        server_.kill_session();
        break;
      case 1:
        server_.kill_first_process();
        server_.start();
        break;
      default:
        server_.crash();
        server_.start();
    }
    EXPECT_TRUE(eventually([&] { return succeeds([&] { return locks_.try_acquire("first", {.lease = 1s}); }); }));
    soonest_grant_ = std::min(soonest_grant_, since.elapsed());
    paused.reset();
    round_.goes_on();
  }

  postgresql_server server_;
  std::unique_ptr<server_database> place_ = server_.open();
  std::unique_ptr<obstacle> default_;
  round round_{place_->url(), place_->url(), {std::string{long_holds} + "=on"}};
  client locks_ = client::connect(place_->url(), {.call_timeout = 3s, .observer = silent()});
  int crashes_ = 0;
  std::chrono::steady_clock::duration soonest_grant_ = std::chrono::steady_clock::duration::max();
};

TEST(soak_of_crashes, with_a_relaxed_guard) {
  if (!is_full_tier() && !is_soak()) GTEST_SKIP() << "it takes long";
  play_rounds([](std::chrono::seconds time) {
    storm_of_crashes one;
    one.play(time, 3);
    one.players().end(true);
    one.report(one.players().found(true));
    EXPECT_GE(one.soonest_grant(), quarantine);
  });
}

// Or else the other one shows nothing.
TEST(soak_of_crashes, with_a_witness_that_survives_them_let_two_hold_a_name) {
  if (!is_full_tier() && !is_soak()) GTEST_SKIP() << "it takes long";
  storm_of_crashes one;
  one.place().execute("ALTER TABLE rowlock_witness SET LOGGED");
  expect_two_holders(one, 20);
}
#endif

}  // namespace
}  // namespace rowlock::test
