#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "server/server_test.hpp"
#include "support/pulse.hpp"
#include "support/test_thread.hpp"

// The row of a name says that somebody waits, so that a release has to look for tickets only then.

namespace rowlock::test {
namespace {

/// A look at each ticket, which also finds a mark missing.
constexpr auto ticket_refresh = 2s;

class waiting_mark : public on_each_server {
 protected:
  client first_ = connect();
  client second_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(waiting_mark);

TEST_P(waiting_mark, is_there_while_a_client_waits_and_goes_with_the_last) {
  auto third = connect();
  auto held = first_.acquire("orders/42", {.lease = long_lease});
  EXPECT_FALSE(is_marked());
  background one{waiting(second_)};
  ASSERT_TRUE(is_waited_for("orders/42", 1));
  background two{waiting(third)};
  ASSERT_TRUE(is_waited_for("orders/42", 2));
  EXPECT_TRUE(eventually([&] { return is_marked(); }));
  one.stop();
  ASSERT_TRUE(is_waited_for("orders/42", 1));
  EXPECT_TRUE(is_marked()) << "another client waits";
  held.release();
  auto next = two.get();
  EXPECT_TRUE(is_held_by("orders/42", next));
  EXPECT_TRUE(is_marked()) << "an acquisition leaves it as it is: others may wait";
  next.release();
  EXPECT_TRUE(eventually([&] { return !is_marked(); }));
}

// Its waiter has died, or a client that was to take it off.
TEST_P(waiting_mark, that_nobody_needs_is_taken_off_by_a_release) {
  first_.acquire("orders/42").release();
  db().execute("UPDATE rowlock_lock SET waiting = true");
  first_.acquire("orders/42").release();
  EXPECT_TRUE(eventually([&] { return !is_marked(); }));
}

TEST_P(waiting_mark, is_made_with_the_row_where_there_is_none) {
  if (is_on("mysql")) GTEST_SKIP() << "there the row is made by an attempt that nobody comes before";
  const auto ticket = db().enqueue("orders/42");
  background one{waiting(second_, {.fairness = fairness::fifo})};
  ASSERT_TRUE(is_waited_for("orders/42", 2));
  EXPECT_TRUE(eventually([&] { return is_marked(); }));
  db().erase_ticket(ticket);
  EXPECT_TRUE(is_held_by("orders/42", one.get()));
}

// It was taken off by an operator, or by a client that has not seen the ticket, or the row was replaced.
TEST_P(waiting_mark, that_is_missing_while_a_client_waits_comes_back) {
  const std::string columns = "(name, version, owner, thread, acquisition, acquired_at, expires_at) ";
  const std::string theirs =
      "SELECT name, version + 1, 'thief:elsewhere:1:1', thread, 'theirs', acquired_at, expires_at ";
  const std::string replace = is_on("mysql")
                                  ? "REPLACE INTO rowlock_lock " + columns + theirs + "FROM rowlock_lock"
                                  : "WITH gone AS (DELETE FROM rowlock_lock RETURNING *) INSERT INTO rowlock_lock " +
                                        columns + theirs + "FROM gone";
  for (const bool is_replaced : {false, true}) {
    auto held = first_.acquire("orders/42", {.lease = long_lease});
    background one{waiting(second_)};
    ASSERT_TRUE(is_waited_for("orders/42") && eventually([&] { return is_marked(); }));
    db().execute(is_replaced ? replace : "UPDATE rowlock_lock SET waiting = false");
    EXPECT_TRUE(eventually(ticket_refresh + slack(), [&] { return is_marked(); }));
    is_replaced ? db().vacate("orders/42") : held.release();
    EXPECT_TRUE(is_held_by("orders/42", one.get()));
  }
}

// The waiter has read that the row was marked, and somebody else has the name by now.
TEST_P(waiting_mark, is_set_again_for_a_ticket_that_came_while_it_was_taken_off) {
  first_.acquire("orders/42").release();
  for (const bool is_own : {false, true}) {
    auto held = first_.acquire("orders/42");
    db().execute("UPDATE rowlock_lock SET waiting = true");
    const auto owner = db().row("orders/42").value().owner.value();
    auto gate = db().gate_before_unmarking();
    held.release();
    ASSERT_TRUE(eventually([&] { return db().at_gate() == 1; }));
    const auto ticket = db().enqueue("orders/42");
    if (is_own) db().execute("UPDATE rowlock_waiter SET owner = " + db().quoted(owner));
    gate.reset();
    EXPECT_TRUE(eventually([&] { return db().row("orders/42").value().acquisition == "theirs" && is_marked(); }));
    db().erase_ticket(ticket);
    db().vacate("orders/42");
  }
}

// A client takes the name again at once whenever it has released it; another gives up short waits, and then waits.
TEST_P(waiting_mark, is_never_forgotten_beside_a_client_that_only_tries) {
  constexpr int waits = 150;
  auto busy = connect();
  auto other = connect();
  test_thread trying{[&](const std::stop_token& enough) {
    while (!enough.stop_requested())
      if (auto held = busy.try_acquire("orders/42")) error_of([&] { held->release(); });
  }};
  for (int i = 0; i < waits; ++i) {
    const std::chrono::microseconds brief{100 + i % 20 * 100};  // perhaps too brief to open a connection
    error_of([&] { return other.try_acquire_for("orders/42", brief).has_value(); });
    const stopwatch watch;
    ASSERT_TRUE(other.try_acquire_for("orders/42", soon).has_value()) << "it waited for " << soon.count() << " us";
    EXPECT_LT(watch.elapsed(), 2 * ticket_refresh + slack());
  }
}

// A lost one costs a waiter a second: clients that take turns would show it, beside what the machine adds. So it is
// with a ticket that was used, if a release took it for the first again.
TEST_P(waiting_mark, loses_no_release_between_clients_that_take_turns) {
  constexpr auto lost = 700ms;
  constexpr int calls = 10;  // of the others, until a waiter has its turn, and of the waiter itself
  std::array<client, 3> locks{connect(), connect(), connect()};
  auto beside = connect();
  const pulse seen{[&] { beside.acquire("orders/43").release(); }};
  for (const auto order : {fairness::unfair, fairness::fifo}) {
    const int turns = order == fairness::fifo ? 100 : 200;
    std::array<int, 3> late{};
    std::mutex writing;
    std::vector<fencing_token> tokens;
    std::atomic<bool> was_lost{false};
    on_threads(locks.size(), [&](std::size_t i) {
      for (int turn = 0; turn < turns; ++turn) {
        const auto begin = std::chrono::steady_clock::now();
        auto held = locks.at(i).acquire("orders/42", {.fairness = order});
        const auto took = std::chrono::steady_clock::now() - begin;
        bool is_late = took > slowness * lost + calls * seen.longest_since(begin);
        {
          const std::lock_guard alone{writing};
          tokens.push_back(held.token());
        }
        // What a release has granted is lost where this process does not run for a second.
        if (const auto e = error_of([&] { held.release(); })) {
          EXPECT_EQ(e->code(), errc::lock_lost) << e->what();
          was_lost = is_late = true;
        }
        late.at(i) += is_late ? 1 : 0;
      }
    });
    EXPECT_LE(*std::max_element(late.begin(), late.end()), 1);
    EXPECT_TRUE(was_lost || std::ranges::adjacent_find(tokens, std::greater_equal<>{}) == tokens.end()) << "they grow";
    EXPECT_TRUE(eventually([&] { return !is_marked(); }));
  }
}

}  // namespace
}  // namespace rowlock::test
