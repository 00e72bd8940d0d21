#include <algorithm>

#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

/// Those who have waited for so long ask rarely by themselves.
constexpr auto long_wait = 3s;
constexpr auto beat = 2s;
constexpr auto told_in_time = slowness * 300ms;
/// Sooner than those who ask.
constexpr auto hinted_at_once = slowness * 40ms;

/// Hears what is told to clients.
class ear {
 public:
  explicit ear(const server_database& where) : connection_{where.administrator().url()} {
    connection_.run_script("LISTEN " + marker_);
  }

  /// The client's id, by what it is called as an owner.
  static std::string id_of(const std::string& owner) { return owner.substr(owner.size() - 16); }

  void listen_for(const std::string& owner) { connection_.run_script("LISTEN rowlock_" + id_of(owner)); }

  /// Whom has been told since the last time, as far as it was listened for. Notifications come in the order of commits.
  std::vector<std::string> told() {
    const auto mark = std::to_string(++marks_);
    connection_.run_script("NOTIFY " + marker_ + ", '" + mark + "'");
    std::vector<std::string> out;
    bool is_complete = false;
    EXPECT_TRUE(eventually([&] { return is_complete = is_complete || take_in(out, mark); }));
    return out;
  }

 private:
  bool take_in(std::vector<std::string>& out, const std::string& mark) const {
    PQconsumeInput(connection_.raw());
    bool is_complete = false;
    while (const std::unique_ptr<PGnotify, void (*)(void*)> each{PQnotifies(connection_.raw()), PQfreemem}) {
      const std::string channel{each->relname};
      const std::string payload{each->extra};
      if (channel == marker_) {
        is_complete = payload == mark;
      } else if (!payload.empty()) {  // a client looks whether it can hear itself
        out.push_back(ear::id_of(channel) + " " + payload);
      }
    }
    return is_complete;
  }

  pq_connection connection_;
  std::string marker_ = "marker_of_a_test";
  int marks_ = 0;
};

class hints : public only_on<postgresql_database> {
 protected:
  using words = std::vector<std::string>;

  static auto waiting(client& locks, const lock_options& options = {.fairness = fairness::fifo}) {
    return server_test::waiting(locks, options);
  }
  std::string holder() { return db().row("orders/42").value().owner.value(); }
  /// Who has the last ticket.
  std::string last_waiter() { return db().text("SELECT owner FROM rowlock_waiter ORDER BY ticket DESC LIMIT 1"); }
  static words told_to(const std::string& owner) { return {ear::id_of(owner) + " orders/42"}; }

  std::string of_listeners() {
    return " FROM pg_stat_activity WHERE query LIKE '%LISTEN rowlock\\_%' AND usename = '" + db().name() + "'";
  }
  std::int64_t listeners() { return db().number("SELECT count(*)" + of_listeners()); }
  std::int64_t listener() { return db().number("SELECT coalesce(max(pid), 0)" + of_listeners()); }
  /// The name has been let go of, and whoever waits has waited for long: how long it took to wake.
  auto time_to_have(background<held_lock>& one) {
    const stopwatch watch;
    one.get().release();
    return watch.elapsed();
  }

  client first_ = connect();
  client second_ = connect();
  client third_ = connect();
  ear hearing_{db()};

  /// A waiter that has its ticket, the last one of so many. The test hears what its client is told from now on.
  struct in_queue {
    in_queue(hints& test, client& locks, int place = 1) : call{waiting(locks)} {
      EXPECT_TRUE(test.is_waited_for("orders/42", place));
      owner = test.last_waiter();
      test.hearing_.listen_for(owner);
    }
    background<held_lock> call;
    std::string owner{};
  };
};

TEST_F(hints, are_given_to_nobody_where_nobody_waits) {
  for (auto* locks : {&first_, &second_}) {
    const auto held = locks->acquire("orders/42");
    hearing_.listen_for(holder());
    EXPECT_FALSE(second_.try_acquire("orders/42", {.fairness = fairness::fifo}).has_value());
  }
  first_.acquire("orders/42", {.fairness = fairness::fifo}).release();
  second_.acquire("orders/42", {.strategy = strategy::version_cas}).release();
  second_.acquire("orders/42", {.strategy = strategy::for_update}).release();
  EXPECT_EQ(hearing_.told(), words{});
  EXPECT_EQ(listeners(), 0);
}

// Whoever may connect may NOTIFY, and say anything.
TEST_F(hints, about_names_that_nobody_has_waited_for_here_are_dropped) {
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  background waiter{waiting(second_)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  ASSERT_TRUE(eventually([&] { return listeners() == 1; }));
  const auto channel = "rowlock_" + ear::id_of(last_waiter());
  const auto before = statements_of(second_);
  db().execute("SELECT pg_notify('" + channel + "', 'junk/' || n) FROM generate_series(1, 20000) n");
  db().execute("SELECT pg_notify('" + channel + "', 'orders/42')");  // heard after all the others
  held.release();
  waiter.get().release();
  EXPECT_FALSE(eventually(2s, [&] { return statements_of(second_) - before > 25; })) << "one for each 256 of them";
  const stopwatch watch;
  second_.close();
  EXPECT_LT(watch.elapsed(), slack());
}

TEST_F(hints, that_end_with_their_connection_are_told_of_and_come_again) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto other = connect();
  const auto held = other.acquire("orders/42", {.lease = long_lease});
  background waiter{waiting(locks)};
  std::int64_t ended = 0;
  const auto is_another = [&] { return listeners() == 1 && listener() != ended; };
  for (std::size_t times = 1; times <= 2; ++times) {
    // One that had not been relied on yet, when it was ended, is not told of.
    ASSERT_TRUE(eventually([&] {
      if (locks.stats().polling_fallbacks == times) return true;
      if (is_another()) {
        ended = listener();
        db().execute("SELECT pg_terminate_backend(" + std::to_string(ended) + ")");
      }
      return false;
    }));
    ASSERT_TRUE(eventually(is_another));
    EXPECT_TRUE(eventually([&] { return told.all<events::polling>().size() == times; }));
  }
  for (const auto& each : told.all<events::polling>()) EXPECT_TRUE(each.cause.connection_is_unusable());
  EXPECT_EQ(locks.stats().polling_fallbacks, 2U);
  EXPECT_TRUE(told.warnings().empty());
  waiter.stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { static_cast<void>(waiter.get()); }));
}

TEST_F(hints, are_given_to_the_first_alone) {
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  hearing_.listen_for(holder());
  in_queue one{*this, second_};
  in_queue two{*this, third_, 2};
  EXPECT_EQ(hearing_.told(), words{});
  held.release();
  auto next = one.call.get();
  EXPECT_EQ(hearing_.told(), told_to(one.owner));
  next.release();
  auto last = two.call.get();
  // A leave of the second_ that ends only then says it again.
  const auto told = hearing_.told();
  EXPECT_FALSE(told.empty());
  EXPECT_EQ(told, words(told.size(), told_to(two.owner).front()));
  last.release();
  EXPECT_EQ(hearing_.told(), words{});
}

TEST_F(hints, are_given_by_whoever_frees_a_lease_to_its_holders_client_too) {
  auto desk = connect();
  const auto held = first_.acquire("orders/42", {.lease = long_lease});
  in_queue one{*this, first_};
  EXPECT_TRUE(desk.force_release("orders/42"));
  EXPECT_EQ(hearing_.told(), told_to(one.owner));
  one.call.get().release();
}

TEST_F(hints, are_given_by_whoever_ends_the_session_that_had_a_lock) {
  auto desk = connect();
  const auto held = first_.acquire("orders/42", {.strategy = strategy::for_update});
  db().enqueue("orders/42");
  const auto next = last_waiter();
  hearing_.listen_for(next);
  EXPECT_EQ(hearing_.told(), words{});
  EXPECT_TRUE(desk.force_release("orders/42"));
  words told;
  EXPECT_TRUE(eventually([&] { return !(told = hearing_.told()).empty(); }));
  EXPECT_EQ(told, told_to(next));
}

TEST_F(hints, are_not_given_by_a_client_to_itself) {
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  hearing_.listen_for(holder());
  in_queue one{*this, first_};
  in_queue two{*this, second_, 2};
  held.release();
  auto next = one.call.get();
  EXPECT_EQ(hearing_.told(), words{});
  next.release();
  const auto last = two.call.get();
  EXPECT_EQ(hearing_.told(), told_to(two.owner));
}

TEST_F(hints, are_given_by_the_end_of_a_transaction_too) {
  const auto measure = [&] {
    auto held = first_.acquire("orders/42", {.strategy = strategy::for_update});
    in_queue one{*this, second_};
    let_pass(long_wait);
    held.release();
    const std::chrono::nanoseconds time = time_to_have(one.call);
    return hearing_.told() == told_to(one.owner) ? time : std::chrono::nanoseconds::max();
  };
  EXPECT_TRUE(takes_at_most(hinted_at_once, measure)) << "it asks every 250 ms by itself, perhaps before it is told";
}

TEST_F(hints, that_were_given_to_one_who_has_left_are_passed_on) {
  const auto measure = [&] {
    auto held = first_.acquire("orders/42", {.lease = long_lease});
    in_queue gone{*this, second_};
    in_queue next{*this, third_, 2};
    EXPECT_TRUE(eventually([&] { return listeners() == 2; }));
    let_pass(long_wait);
    auto gate = db().gate();
    background release{[&](const std::stop_token&) { held.release(); }};
    EXPECT_TRUE(eventually([&] { return db().at_gate() == 1; })) << "it has chosen the first_ of the queue";
    gone.call.stop();
    EXPECT_TRUE(gone.call.is_done_within(5s)) << "it does not wait until its ticket can be deleted";
    EXPECT_EQ(hearing_.told(), words{});
    gate.reset();
    const auto time = time_to_have(next.call);
    release.get();
    auto told = hearing_.told();
    EXPECT_FALSE(told.empty());
    EXPECT_EQ(words{told.front()}, told_to(gone.owner));
    return time;
  };
  EXPECT_TRUE(takes_at_most(told_in_time, measure));
}

TEST_F(hints, are_given_by_one_who_leaves_a_free_name) {
  first_.acquire("orders/42").release();
  auto in_the_way = db().row_locked("orders/42");
  in_queue one{*this, second_};
  in_queue two{*this, third_, 2};
  one.call.stop();
  ASSERT_TRUE(is_waited_for("orders/42", 1));
  EXPECT_EQ(hearing_.told(), told_to(two.owner));
  in_the_way.reset();
  EXPECT_TRUE(is_held_by("orders/42", two.call.get()));
}

TEST_F(hints, are_not_given_by_one_who_leaves_a_lock_that_is_held) {
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  in_queue one{*this, second_};
  in_queue two{*this, third_, 2};
  one.call.stop();
  ASSERT_TRUE(is_waited_for("orders/42", 1));
  EXPECT_EQ(hearing_.told(), words{});
}

TEST_F(hints, that_never_came_delay_nobody_for_longer_than_a_beat) {
  const auto held = first_.acquire("orders/42", {.lease = long_lease});
  background one{waiting(second_)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  let_pass(2 * beat);
  db().vacate("orders/42");  // as a library does that knows of no queue
  EXPECT_LT(time_to_have(one), beat + 1s);
}

TEST_F(hints, go_on_when_their_connection_was_ended) {
  const auto measure = [&] {
    auto held = first_.acquire("orders/42", {.lease = long_lease});
    background one{waiting(second_)};
    EXPECT_TRUE(is_waited_for("orders/42"));
    EXPECT_TRUE(eventually([&] { return listeners() == 1; }));
    const auto before = listener();
    db().execute("SELECT pg_terminate_backend(" + std::to_string(before) + ")");
    EXPECT_TRUE(eventually([&] { return listeners() == 1 && listener() != before; }));
    let_pass(long_wait);
    held.release();
    return time_to_have(one);
  };
  EXPECT_TRUE(takes_at_most(hinted_at_once, measure));
}

TEST_F(hints, of_all_names_come_by_one_connection) {
  second_.close();
  third_.close();
  constexpr std::size_t connections = 2;
  auto second = connect({.connections = connections});
  std::vector<held_lock> all;
  std::vector<std::unique_ptr<background<void>>> waiters;
  for (int i = 0; i < 20; ++i) {
    const auto name = "job/" + std::to_string(i / 2);
    if (i % 2 == 0) all.push_back(first_.acquire(name, {.lease = long_lease}));
    waiters.push_back(std::make_unique<background<void>>(
        [&second, name](std::stop_token stop) { second.acquire(name, {}, std::move(stop)).release(); }));
    ASSERT_TRUE(is_waited_for(name, 1 + i % 2));
  }
  EXPECT_TRUE(eventually([&] { return listeners() == 1; }));
  first_.close();
  EXPECT_TRUE(eventually([&] { return db().connections() <= static_cast<int>(connections) + 1; }));
  for (auto& each : waiters) EXPECT_NO_THROW(each->get());
  EXPECT_EQ(listeners(), 1);
  second.close();
  EXPECT_TRUE(eventually([&] { return db().connections() == 0; }));
}

}  // namespace
}  // namespace rowlock::test
