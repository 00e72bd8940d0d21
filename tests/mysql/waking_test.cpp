#include <atomic>

#include "server/server_test.hpp"

#ifdef ROWLOCK_WITH_MYSQL
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

/// Those who have waited for so long ask rarely by themselves.
constexpr auto longest_wait_here = 1500ms;
/// Sooner than those who ask, who do so every two seconds at most.
constexpr auto woken_at_once = slowness * 25ms;
constexpr auto refresh_beat = 2s;

/// How a client's listener, asleep in the server, is woken by others.
class waking : public only_on<mysql_database> {
 protected:
  static auto waiting(client& locks, const lock_name& name = "orders/42") {
    return server_test::waiting(locks, {.fairness = fairness::fifo}, name);
  }
  std::string asleep() const {
    return " FROM information_schema.processlist WHERE info REGEXP '^SELECT (SLEEP|GET_LOCK).*10000 / 1000' AND user "
           "LIKE '" +
           name_ + "%'";
  }
  std::int64_t sleepers() { return db().number("SELECT COUNT(*)" + asleep()); }
  std::int64_t sleeper() { return db().number("SELECT COALESCE(MAX(id), 0)" + asleep()); }
  bool is_asleep(int number = 1) {
    return eventually([&] { return sleepers() == number; });
  }
  std::string last_waiter() { return db().text("SELECT owner FROM rowlock_waiter ORDER BY ticket DESC LIMIT 1"); }
  static std::string lock_of(const std::string& owner) { return "rowlock_" + owner.substr(owner.size() - 16); }
  static auto time_to_have(held_lock held, background<held_lock>& one) {
    const stopwatch watch;
    held.release();
    one.get().release();
    return watch.elapsed();
  }
  auto time_to_wake(client& holder, client& waiter) {
    auto held = holder.acquire("orders/42", {.lease = long_lease});
    sleeping one{*this, waiter};
    let_pass(longest_wait_here);
    return time_to_have(std::move(held), one.call);
  }

  client first_ = connect();
  client second_ = connect();
  client third_ = connect();

  /// A waiter that has its ticket, and whose client's listener sleeps.
  struct sleeping {
    sleeping(waking& test, client& locks) : call{waiting(locks)} {
      EXPECT_TRUE(test.is_waited_for("orders/42"));
      EXPECT_TRUE(test.is_asleep());
    }
    background<held_lock> call;
  };

 private:
  const std::string name_ = db().name();
};

TEST_F(waking, wakes_another_client_at_once) {
  const auto measure = [&] { return time_to_wake(first_, second_); };
  EXPECT_TRUE(takes_at_most(woken_at_once, measure));
}

TEST_F(waking, wakes_one_who_waits_for_several_names_too) {
  auto others = first_.acquire("orders/43", {.lease = long_lease});
  background other{waiting(second_, "orders/43")};
  ASSERT_TRUE(is_waited_for("orders/43"));
  const auto measure = [&] { return time_to_wake(first_, second_); };
  EXPECT_TRUE(takes_at_most(woken_at_once, measure));
  EXPECT_FALSE(other.is_done_within(0ms));
  others.release();
  other.get().release();
}

TEST_F(waking, is_passed_on_by_one_who_leaves_a_free_name) {
  first_.acquire("orders/42").release();
  const auto measure = [&] {
    auto in_the_way = db().row_locked("orders/42");
    background one{waiting(second_)};
    EXPECT_TRUE(is_waited_for("orders/42"));
    background two{waiting(third_)};
    EXPECT_TRUE(is_waited_for("orders/42", 2));
    EXPECT_TRUE(is_asleep(2));
    in_the_way.reset();
    one.stop();
    const stopwatch watch;
    try {
      one.get().release();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::cancelled) << e.what();
    }
    two.get().release();
    return watch.elapsed();
  };
  EXPECT_TRUE(takes_at_most(slowness * 300ms, measure));
}

TEST_F(waking, costs_those_who_wait_few_statements) {
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  std::vector<std::jthread> all;
  for (int i = 0; i < 20; ++i)
    all.emplace_back([&] { second_.acquire("orders/42", {.fairness = fairness::fifo}).release(); });
  ASSERT_TRUE(is_waited_for("orders/42", 20));
  ASSERT_TRUE(is_asleep());
  let_pass(4s);
  const auto before = statements_of(second_);
  let_pass(6s);
  EXPECT_LE(statements_of(second_) - before, 10U)
      << "one to keep the tickets and one to look, every 2 s; and a few tries";
  held.release();
}

TEST_F(waking, at_the_wrong_time_harms_nothing) {
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  sleeping one{*this, second_};
  const auto session = std::to_string(sleeper());
  for (int i = 0; i < 100; ++i) db().execute("KILL QUERY " + session);
  EXPECT_FALSE(one.call.is_done_within(a_moment));
  ASSERT_TRUE(is_asleep());
  EXPECT_EQ(std::to_string(sleeper()), session);
  EXPECT_EQ(second_.stats().polling_fallbacks, 0U);
  held.release();
  one.call.get().release();
}

TEST_F(waking, ends_with_its_connection_and_comes_again) {
  const recorder told;
  auto second = connect({.observer = told.observer()});
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  sleeping one{*this, second};
  for (std::size_t times = 1; times <= 2; ++times) {
    const auto session = sleeper();
    db().execute("KILL " + std::to_string(session));
    ASSERT_TRUE(eventually([&] {
      const auto now = sleeper();
      return now != 0 && now != session;
    }));
    EXPECT_TRUE(eventually([&] { return told.all<events::polling>().size() == times; }));
  }
  EXPECT_TRUE(told.warnings().empty());
  let_pass(longest_wait_here);
  EXPECT_LT(time_to_have(std::move(held), one.call), refresh_beat);
}

TEST_F(waking, is_replaced_by_polling_where_another_session_has_the_clients_user_level_lock) {
  const recorder told;
  auto second = connect({.observer = told.observer()});
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  sleeping one{*this, second};
  const auto taken = db().transaction("DO GET_LOCK('" + lock_of(last_waiter()) + "', 0)");
  db().execute("KILL " + std::to_string(sleeper()));
  ASSERT_TRUE(eventually([&] { return !told.all<events::polling>().empty(); }));
  EXPECT_FALSE(one.call.is_done_within(a_moment));
  held.release();
  one.call.get().release();
}

TEST_F(waking, that_is_forbidden_leaves_the_beat) {
  auto second = connect_to(db().url_of_guest("SELECT, INSERT, UPDATE, DELETE"));
  const auto measure = [&] { return time_to_wake(first_, second); };
  EXPECT_TRUE(takes_at_most(refresh_beat + 500ms, measure));
}

// As if all rings were lost. By then waiters try by themselves less often than the beat.
TEST_F(waking, that_could_be_relied_on_before_there_was_a_ticket_leaves_the_beat) {
  constexpr std::size_t names = 20;
  const auto name = [](std::size_t i) { return "orders/" + std::to_string(i); };
  auto second = connect({.connections = 2 * names});
  std::vector<held_lock> held;
  for (std::size_t i = 0; i < names; ++i) held.push_back(first_.acquire(name(i), {.lease = long_lease}));
  auto no_ticket_yet = db().transaction("LOCK TABLES rowlock_waiter WRITE");
  std::vector<std::unique_ptr<background<held_lock>>> all;
  for (std::size_t i = 0; i < names; ++i)
    all.push_back(std::make_unique<background<held_lock>>(
        [&, i](std::stop_token stop) { return second.acquire(name(i), {}, std::move(stop)); }));
  ASSERT_TRUE(is_asleep());
  no_ticket_yet.reset();
  for (std::size_t i = 0; i < names; ++i) ASSERT_TRUE(is_waited_for(name(i)));
  let_pass(4 * refresh_beat);
  for (std::size_t i = 0; i < names; ++i) db().vacate(name(i));
  const stopwatch watch;
  for (auto& each : all) each->get().release();
  EXPECT_LT(watch.elapsed(), refresh_beat + slack());
}

// Somebody else than a client may have written the ticket.
TEST_F(waking, is_not_tried_for_owners_that_no_client_can_have) {
  for (const std::string owner : {"'); DROP TABLE rowlock_lock; --", "short", ""}) {
    auto held = first_.acquire("orders/42");
    db().execute(
        "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) VALUES ('orders/42', " +
        db().quoted(owner) + ", '1', 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE)");
    EXPECT_NO_THROW(held.release());
    db().execute("DELETE FROM rowlock_waiter");
  }
  EXPECT_TRUE(first_.try_acquire("orders/42").has_value());
}

TEST_F(waking, ends_with_the_client_at_once_and_leaves_no_session_behind) {
  const auto held = first_.acquire("orders/42", {.lease = long_lease});
  const auto measure = [&] {
    auto second = connect();
    sleeping one{*this, second};
    one.call.stop();
    EXPECT_TRUE(throws(errc::cancelled, [&] { one.call.get().release(); }));
    const stopwatch watch;
    second.close();
    const auto time = watch.elapsed();
    EXPECT_TRUE(is_asleep(0)) << "the server hears of it in its time";
    return time;
  };
  EXPECT_TRUE(takes_at_most(woken_at_once, measure));
}

// A hint that meets no sleep, or another hint, is made up for: waiters that miss one sleep for a second or longer.
TEST_F(waking, in_quick_succession_forgets_nobody) {
  constexpr int clients = 6;
  constexpr int turns = 60;
  const auto play = [&](auto name_of) {
    std::atomic<int> done{0};
    const stopwatch watch;
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < clients; ++i)
        all.emplace_back([&, i] {
          const auto e = error_of([&] {
            auto locks = connect();
            for (int t = 0; t < turns; ++t, ++done)
              locks.acquire("orders/" + std::to_string(name_of(i, t)), {.fairness = fairness::fifo}).release();
          });
          EXPECT_FALSE(e.has_value()) << e->what();
        });
    }
    EXPECT_EQ(done, clients * turns);
    return watch.elapsed();
  };
  const auto without_waiting = play([](int client, int) { return client; });
  const auto waiting = play([](int client, int turn) { return (client + turn) % 2; });
  EXPECT_LT(waiting, 10 * without_waiting + 2s);
}

}  // namespace
}  // namespace rowlock::test
#endif
