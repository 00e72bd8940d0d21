#include "server/server_test.hpp"
#include "support/test_thread.hpp"

// A release grants the name to the first waiter. The waiter has then a second to come.

namespace rowlock::test {
namespace {

const lock_options in_turn{.lease = long_lease, .fairness = fairness::fifo};
constexpr auto time_to_come = 1s;

class grant_by_release : public on_each_server {
 protected:
  static auto waiting(client& locks, const lock_options& options = in_turn) {
    return server_test::waiting(locks, options);
  }
  bool has_a_ticket_marked(int times) {
    return is_waited_for("orders/42", times) && eventually([&] { return is_marked(); });
  }
  /// As a client that dies just then: nobody comes for the ticket.
  void leave_a_ticket_that_nobody_comes_for() {
    add_ticket("gone");
    db().execute("UPDATE rowlock_lock SET waiting = true");
  }
  /// As if the holder's claim had not deleted it.
  void bring_its_ticket_back() {
    if (db().tickets() == 0) add_ticket(db().row("orders/42").value().acquisition.value());
  }

  client first_ = connect();
  client second_ = connect();
  client third_ = connect();

 private:
  void add_ticket(const std::string& attempt) {
    const auto ticket = std::to_string(db().enqueue("orders/42"));
    db().execute("UPDATE rowlock_waiter SET lease = 60000000, attempt = '" + attempt + "' WHERE ticket = " + ticket);
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(grant_by_release);

class used_ticket : public grant_by_release {};
ROWLOCK_SUITE_ON_SERVERS(used_ticket, on("postgresql", servers()));

// Its client refreshes it just then, for longer than a claim, or a release, waits for that.
TEST_P(used_ticket, is_granted_nothing_again_even_if_it_cannot_be_deleted_at_once) {
  auto held = first_.acquire("orders/42", in_turn);
  background one{waiting(second_)};
  ASSERT_TRUE(has_a_ticket_marked(1));
  auto refreshing = db().transaction("SELECT ticket FROM rowlock_waiter FOR NO KEY UPDATE");
  background other{waiting(third_)};
  ASSERT_TRUE(is_waited_for("orders/42", 2));
  held.release();
  auto mine = one.get();
  const auto used = db().row("orders/42").value().acquisition;
  try {
    mine.release();
  } catch (const error& e) {
    EXPECT_TRUE(e.is_retryable()) << e.what();  // the name is released later
  }
  refreshing.reset();
  auto theirs = other.get();
  theirs.release();
  EXPECT_NE(db().row("orders/42").value().acquisition, used);
  EXPECT_TRUE(eventually([&] { return is_vacant("orders/42") && db().tickets() == 0; }));
}

TEST_P(grant_by_release, gives_the_first_what_it_has_asked_for) {
  auto held = first_.acquire("orders/42", in_turn);
  const auto token = held.token();
  background one{waiting(second_, {.lease = long_lease, .fairness = fairness::fifo, .note = "mine"})};
  ASSERT_TRUE(has_a_ticket_marked(1));
  held.release();
  auto mine = one.get();
  EXPECT_TRUE(is_held_by("orders/42", mine));
  EXPECT_GT(mine.token(), token);
  const auto row = second_.find("orders/42").value();
  EXPECT_EQ(row.token, mine.token());
  EXPECT_EQ(row.note, "mine");
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
  EXPECT_NO_THROW(mine.release());
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(grant_by_release, is_the_whole_lease_when_the_call_returns) {
  for (const auto order : {fairness::fifo, fairness::unfair}) {
    auto held = first_.acquire("orders/42", in_turn);
    const lock_options brief{.lease = 30s, .fairness = order, .renew = false};
    background one{waiting(second_, brief)};
    ASSERT_TRUE(has_a_ticket_marked(1));
    held.release();
    auto mine = one.get();
    EXPECT_GT(second_.find("orders/42").value().expires_in, 20s);
    const lock_options usual{.lease = long_lease, .fairness = order};
    background two{waiting(first_, usual)};
    ASSERT_TRUE(has_a_ticket_marked(1));
    mine.release();
    auto last = two.get();
    EXPECT_GT(expiry("orders/42") - db().now(), std::chrono::microseconds{soon}.count());
    last.release();
  }
}

// What a crash of the server may undo is over before the lease that is on disk.
TEST_P(grant_by_release, does_not_last_longer_than_the_lease_before) {
  auto held = first_.acquire("orders/42", {.lease = long_lease, .fairness = fairness::fifo, .renew = false});
  leave_a_ticket_that_nobody_comes_for();
  db().age("orders/42", std::chrono::seconds{59});  // only now, so that enough is left for a grant
  const auto end = expiry("orders/42");
  held.release();
  const auto row = db().row("orders/42").value();
  EXPECT_EQ(row.acquisition, "gone");
  EXPECT_LE(row.expires_at, end);
  EXPECT_TRUE(eventually([&] { return second_.try_acquire("orders/42").has_value(); }));
}

TEST_P(grant_by_release, to_one_who_does_not_come_costs_the_others_its_time) {
  auto held = first_.acquire("orders/42", in_turn);
  leave_a_ticket_that_nobody_comes_for();
  background one{waiting(second_)};
  ASSERT_TRUE(is_waited_for("orders/42", 2));
  const auto token = held.token();
  const stopwatch watch;
  held.release();
  const auto granted = db().row("orders/42").value();
  EXPECT_EQ(granted.acquisition, "gone");
  const auto comes_after_it = [&] { return db().row("orders/42").value().acquired_at >= granted.expires_at; };
  EXPECT_TRUE(!third_.try_acquire("orders/42").has_value() || comes_after_it());
  auto mine = one.get();
  EXPECT_TRUE(comes_after_it());
  EXPECT_GT(mine.token(), token);
  EXPECT_LT(watch.elapsed(), time_to_come + 2s + slack())
      << "when tickets are refreshed, it sees that its turn has come";
  if (is_on("postgresql")) {
    EXPECT_TRUE(eventually([&] { return db().tickets() == 0; })) << "who passes takes the ticket away";
  }
  mine.release();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(grant_by_release, that_comes_as_its_waiter_is_stopped_or_its_client_closes_is_released) {
  for (int round = 0; round < 30; ++round) {
    const bool is_closed = round % 3 == 0;
    auto held = first_.acquire("orders/42", in_turn);
    background one{waiting(second_)};
    ASSERT_TRUE(is_waited_for("orders/42", 1));
    background two{waiting(third_)};
    ASSERT_TRUE(is_waited_for("orders/42", 2));
    test_thread leaving{[&] { is_closed ? second_.close() : one.stop(); }};
    held.release();
    leaving.join();
    const auto e = error_of([&] { one.get().release(); });
    EXPECT_TRUE(!e || is_closed || e->code() == errc::cancelled) << e->what();
    EXPECT_TRUE(is_held_by("orders/42", two.get()));
    ASSERT_TRUE(eventually([&] { return db().tickets() == 0; }));
    if (is_closed) second_ = connect();
  }
}

TEST_P(grant_by_release, is_not_for_those_who_wait_for_a_transaction) {
  auto held = first_.acquire("orders/42", in_turn);
  background one{waiting(second_, {.strategy = strategy::for_update})};
  ASSERT_TRUE(has_a_ticket_marked(1));
  EXPECT_EQ(db().number("SELECT count(*) FROM rowlock_waiter WHERE lease IS NOT NULL"), 0);
  const auto token = held.token();
  held.release();
  EXPECT_GT(one.get().token(), token);
}

// The row would have the acquisition of a holder that had lost the name in between: it would not be told, and could
// confirm. The ticket that was used is deleted at the claim, or else with the next acquisition.
TEST_P(grant_by_release, is_never_for_a_ticket_whose_lock_was_freed_or_has_expired) {
  const std::function<void(client&)> ends[] = {[](client& locks) { ASSERT_TRUE(locks.force_release("orders/42")); },
                                               [this](client& /*locks*/) { db().expire("orders/42"); }};
  const std::function<void(client&)> ways[] = {
      [](client& locks) { locks.acquire("orders/42").release(); },
      [](client& locks) { locks.acquire("orders/42", {.strategy = strategy::version_cas}).release(); },
      [](client& locks) {
        locks.acquire_all({"orders/42", "orders/43"}).release();
      },
      [](client& locks) { locks.acquire_shared("orders/42").release(); }};
  for (const auto& end : ends)
    for (const auto& acquire_and_release : ways) {
      SCOPED_TRACE(testing::Message{} << &end - ends << ", " << &acquire_and_release - ways);
      auto second = connect();
      auto held = first_.acquire("orders/42", in_turn);
      background one{waiting(second)};
      ASSERT_TRUE(has_a_ticket_marked(1));
      held.release();
      const auto gone = one.get();
      bring_its_ticket_back();
      end(third_);
      acquire_and_release(third_);
      EXPECT_TRUE(is_vacant("orders/42"));
      third_.acquire("orders/42").release();
      EXPECT_TRUE(is_vacant("orders/42"));
    }
}

class claim_of_a_grant : public on_each_server_by_proxy {
 protected:
  /// An attempt that was under way at the release may claim the grant unnoticed: then once more, by another name.
  template <class Use>
  void disturb_a_claim(tcp_proxy::action how, Use use) {
    auto first = connect();
    auto second = connect_through_proxy();
    for (int round = 0; round < 20 && !proxy().has_acted(); ++round) {
      const auto name = "orders/" + std::to_string(round);
      auto held = first.acquire(name, in_turn);
      background claim{waiting(second, in_turn, name)};
      ASSERT_TRUE(is_waited_for(name) && eventually([&] { return is_marked(name); }));
      on_request(acquiring(name), how);
      held.release();
      use(name, claim);
    }
    EXPECT_TRUE(proxy().has_acted());
  }
  /// The ticket of the wait cannot be deleted before the proxy lets go.
  void grant_to_an_ended_wait(client& first, client& second) {
    auto held = first.acquire("orders/42", in_turn);
    background one{waiting(second, in_turn)};
    ASSERT_TRUE(is_waited_for("orders/42") && eventually([&] { return is_marked("orders/42"); }));
    on_request(tcp_proxy::contains("gone AS (DELETE FROM ", "rowlock_waiter WHERE ticket = $"),
               tcp_proxy::action::hold);
    one.stop();
    EXPECT_TRUE(throws(errc::cancelled, [&] { static_cast<void>(one.get()); }));
    ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
    ASSERT_EQ(db().tickets(), 1);
    held.release();
  }
};
ROWLOCK_SUITE_ON_SERVERS(claim_of_a_grant, on("postgresql", servers()));

TEST_P(claim_of_a_grant, whose_answer_is_lost_is_made_again) {
  disturb_a_claim(tcp_proxy::action::cut_after, [&](const std::string& name, auto& claim) {
    const auto mine = claim.get();
    EXPECT_TRUE(is_held_by(name, mine));
    EXPECT_GT(expiry(name) - db().now(), std::chrono::microseconds{soon}.count());
  });
}

TEST_P(claim_of_a_grant, that_nobody_wants_any_more_is_undone_long_before_its_lease_ends) {
  disturb_a_claim(tcp_proxy::action::black_hole_after, [&](const std::string& name, auto& claim) {
    ASSERT_TRUE(eventually([&] { return proxy().has_acted() || claim.is_done_within(0s); }));
    claim.stop();
    if (proxy().has_acted()) {
      EXPECT_TRUE(throws(errc::cancelled, [&] { static_cast<void>(claim.get()); }));
    } else {
      claim.get().release();  // it was made unnoticed
    }
    EXPECT_TRUE(eventually(soon, [&] { return is_vacant(name); }));
  });
}

// The ticket of a wait that has ended is there for longer than a try waits for its deletion.
TEST_P(claim_of_a_grant, for_an_earlier_wait_of_this_client_is_not_relied_on_and_no_reason_to_refuse_it_the_name) {
  using acquisition = std::optional<std::string>;
  const auto present = [&] { return db().row("orders/42").value().acquisition; };
  const auto its = [&](const auto& held) { return held ? present() : acquisition{}; };
  const std::vector<lock_name> any{"orders/42", "orders/43"};
  const std::vector<lock_name> all{"orders/42", "orders/41"};
  const std::function<acquisition(client&)> ways[] = {
      [&](client& locks) { return its(locks.try_acquire("orders/42")); },
      [&](client& locks) { return its(locks.try_acquire("orders/42", in_turn)); },
      [&](client& locks) { return its(locks.try_acquire("orders/42", {.strategy = strategy::version_cas})); },
      [&](client& locks) { return its(locks.try_acquire_any(any)); },
      [&](client& locks) { return its(locks.try_acquire_all(all)); }};
  auto first = connect();
  const auto beside = first.acquire("orders/43");
  for (const auto& ask : ways) {
    SCOPED_TRACE(&ask - ways);
    auto second = connect_through_proxy();
    ASSERT_NO_FATAL_FAILURE(grant_to_an_ended_wait(first, second));
    const auto granted = present();
    const auto mine = ask(second);
    EXPECT_TRUE(mine);
    EXPECT_NE(mine, granted) << "that may be released at any time";
    proxy().let_go();
    second.close();
    ASSERT_TRUE(eventually([&] { return is_vacant("orders/42") && db().tickets() == 0; }));
  }
}

}  // namespace
}  // namespace rowlock::test
