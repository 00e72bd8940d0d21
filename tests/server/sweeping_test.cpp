#include <array>

#include "server/server_test.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {
namespace {

constexpr auto stopped_at_once = 100ms * slowness;
// Its thread does not come to it while a test lasts.
constexpr sweeper_options by_hand{.every = 24h};

/// Somebody has a row in hand.
using grip = std::shared_ptr<void>;

struct gripping {
  const char* name;
  grip (*take)(server_database& at, const std::string& row);
};

std::ostream& operator<<(std::ostream& out, const gripping& g) { return out << g.name; }

grip hold(server_database& at, const std::string& row) {
  auto locks = client::connect(at.url(), {.observer = silent()});
  auto held = locks.acquire(row, {.strategy = strategy::for_update});
  return std::make_shared<std::pair<client, held_lock>>(std::move(locks), std::move(held));
}

grip hold_in_transaction(server_database& at, const std::string& row) {
  auto locks = client::connect(at.url(), {.observer = silent()});
  auto tx = open_caller(at.url(), "read committed");
  tx->begin();
  tx->lock_in(locks, row);
  return std::make_shared<std::pair<client, std::unique_ptr<caller>>>(std::move(locks), std::move(tx));
}

constexpr gripping grips[] = {
    {"a_pin", [](server_database& at, const std::string& row) -> grip { return at.row_pinned(row); }},
    {"a_row_lock", [](server_database& at, const std::string& row) -> grip { return at.row_locked(row); }},
    {"for_update", hold},
    {"lock_in", hold_in_transaction}};

class sweeper_that_meets : public on_each_with<server_test, gripping> {};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(sweeper_that_meets, grips);

TEST_P(sweeper_that_meets, what_somebody_has_in_hand_passes_by_and_comes_back_for_it) {
  auto locks = connect();
  db().add_unused(20);
  const std::string row = "unused/11";
  auto in_hand = what().take(db(), row);
  sweeper sweeps{locks, by_hand};
  const stopwatch watch;
  EXPECT_EQ(sweeps.sweep_once(), 19U);
  EXPECT_LT(watch.elapsed(), on_this_machine(1s));
  EXPECT_TRUE(db().row(row).has_value());
  EXPECT_EQ(db().rows(), 2) << "that, and the sweeper's own";
  in_hand.reset();
  EXPECT_TRUE(eventually([&] {
    db().age(row, 2h);  // a lock by for_update was one just now
    return sweeps.sweep_once() == 1;
  }));
  EXPECT_FALSE(db().row(row).has_value());
  EXPECT_EQ(sweeps.statistics().failures, 0U);
}

class server_sweeper : public on_each_server {};
ROWLOCK_SUITE_ON_EACH_SERVER(server_sweeper);

TEST_P(server_sweeper, that_is_cut_off_in_the_middle_says_so_once_and_goes_on) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  db().add_unused(3'000);
  auto gate = db().gate();
  const sweeper sweeps{locks, {.every = 1s}};
  ASSERT_TRUE(eventually([&] { return db().at_gate() == 1; }));
  ASSERT_GT(db().terminate_sessions(), 0);
  gate.reset();
  ASSERT_TRUE(eventually([&] { return db().rows() == 1; }));
  ASSERT_TRUE(eventually([&] { return sweeps.statistics().sweeps > 1; }));
  EXPECT_EQ(sweeps.statistics().failures, 1U);
  ASSERT_EQ(told.sweep_failures().size(), 1U);
  EXPECT_TRUE(told.sweep_failures().front().cause.connection_is_unusable())
      << told.sweep_failures().front().cause.what();
  EXPECT_EQ(sweeps.statistics().rows, 3'000U);
}

TEST_P(server_sweeper, lets_a_waiter_behind_the_dead_keep_its_place) {
  auto first = connect();
  auto second = connect();
  auto third = connect();
  auto held = first.acquire("orders/42", {.lease = long_lease});
  db().add_waiters("orders/42", 50);
  db().kill_waiters(2min);
  background one{waiting(second, {.fairness = fairness::fifo})};
  ASSERT_TRUE(is_waited_for("orders/42", 51));
  background two{waiting(third, {.fairness = fairness::fifo})};
  ASSERT_TRUE(is_waited_for("orders/42", 52));
  const auto before = first.waiters("orders/42");
  sweeper sweeps{first, by_hand};
  EXPECT_EQ(sweeps.sweep_once(), 50U);
  EXPECT_EQ(sweeps.statistics().tickets, 50U);
  EXPECT_EQ(db().tickets("orders/42"), 2);
  const auto after = first.waiters("orders/42");
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after.at(i).ticket, before.at(i).ticket);
  held.release();
  auto next = one.get();
  EXPECT_TRUE(is_held_by("orders/42", next));
  EXPECT_FALSE(two.is_done_within(a_moment));
  next.release();
  EXPECT_TRUE(is_held_by("orders/42", two.get()));
}

/// Several of them, each in a client of its own.
class server_sweepers : public on_each_server {
 protected:
  static constexpr duration every = 1s;

  struct worker {
    explicit worker(client c) : locks{std::move(c)} {}
    std::uint64_t sweeps() const { return sweeping->statistics().sweeps; }

    client locks;
    std::unique_ptr<sweeper> sweeping = std::make_unique<sweeper>(locks, sweeper_options{.every = every});
  };

  void start(int number) {
    for (int i = 0; i < number; ++i) all_.push_back(std::make_unique<worker>(connect()));
  }
  std::uint64_t sweeps() const {
    std::uint64_t sum = 0;
    for (const auto& each : all_) sum += each->sweeps();
    return sum;
  }
  std::vector<worker*> at_work() const {
    std::vector<worker*> out;
    for (const auto& each : all_)
      if (each->sweeps() > 0) out.push_back(each.get());
    return out;
  }
  const std::vector<std::unique_ptr<worker>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<worker>> all_;
};
ROWLOCK_SUITE_ON_EACH_SERVER(server_sweepers);

TEST_P(server_sweepers, together_do_as_much_as_one_and_another_takes_over) {
  start(5);
  ASSERT_TRUE(eventually([&] { return sweeps() > 0; }));
  const auto before = sweeps();
  const stopwatch watch;
  let_pass(6s);
  const auto done = sweeps() - before;
  const auto rounds = static_cast<std::uint64_t>(watch.elapsed() / every);
  EXPECT_GE(done, 3U);
  EXPECT_LE(done, rounds * 4 / 3 + 2) << "an interval is three quarters at least";
  ASSERT_EQ(at_work().size(), 1U);
  auto* const first = at_work().front();
  for (const auto& each : all()) {
    EXPECT_EQ(each->sweeping->statistics().failures, 0U);
    EXPECT_EQ(each->sweeping->statistics().stand_bys > 0, each.get() != first);
  }
  first->sweeping->stop();
  EXPECT_TRUE(eventually(5s * slowness, [&] { return at_work().size() == 2; }));
}

/// Its way to the server is no way any more.
class cut_off_sweeper : public on_each_server_by_proxy {};
ROWLOCK_SUITE_ON_EACH_SERVER(cut_off_sweeper);

TEST_P(cut_off_sweeper, stops_at_once_where_nothing_comes_back) {
  auto locks = connect_by_proxy({.connect_timeout = 20s, .call_timeout = 20s});
  const auto measure = [&] {
    sweeper sweeps{locks, by_hand};
    EXPECT_TRUE(eventually([&] {
      sweeps.sweep_once();
      return sweeps.statistics().sweeps > 0;
    })) << "the one before has let go";
    proxy().black_hole(true);
    background one{[&](const std::stop_token& /*stop*/) { return sweeps.sweep_once(); }};
    EXPECT_FALSE(one.is_done_within(a_moment));
    const stopwatch watch;
    sweeps.stop();
    const auto took = watch.elapsed();
    proxy().black_hole(false);
    EXPECT_EQ(one.get(), 0U);
    return took;
  };
  EXPECT_TRUE(takes_at_most(stopped_at_once, measure));
}

}  // namespace
}  // namespace rowlock::test
