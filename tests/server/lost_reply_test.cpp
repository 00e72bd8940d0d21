#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

class lost_reply : public on_each_with<proxy_test, lost_request> {
 protected:
  void disturb(tcp_proxy::bytes_test request) { on_request(std::move(request), what().how); }
  static tcp_proxy::bytes_test taking_a_ticket(const std::string& name) {
    return [is_acquiring = acquiring(name)](std::string_view request) {
      constexpr std::string_view life = "6000000";  // as text, or as a number of eight bytes
      constexpr std::string_view as_bytes{"\x80\x8d\x5b\0\0\0\0\0", 8};
      const auto has = [&](std::string_view what) { return request.find(what) != std::string_view::npos; };
      return is_acquiring(request) && (has(life) || has(as_bytes));
    };
  }
  static tcp_proxy::bytes_test freeing(const std::string& name, fencing_token token) {
    return [is_about = about(name), number = token.value()](std::string_view request) {
      const std::string_view as_bytes{reinterpret_cast<const char*>(&number), sizeof number};
      const auto has = [&](std::string_view what) { return request.find(what) != std::string_view::npos; };
      return is_about(request) && (has(std::to_string(number)) || has(as_bytes));
    };
  }
  /// Where the server has done it, it can be asked, if that fits into the tenth of the call that is left for it.
  static bool is_as_expected(bool was_adopted) {
    const bool may_be_late = what().how == tcp_proxy::action::black_hole_after;
    return may_be_late || was_adopted == what().reaches_server();
  }

  client locks_ = connect_through_proxy();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(lost_reply, lost_requests);

TEST_P(lost_reply, of_a_try_is_adopted_or_of_unknown_outcome_and_leaves_no_lock_behind) {
  fencing_token before{};
  for (const bool is_new : {true, false}) {
    SCOPED_TRACE(is_new);
    auto locks = connect_through_proxy();
    disturb(acquiring("orders/42"));
    std::optional<held_lock> held;
    const auto e = error_of([&] { held = locks.try_acquire("orders/42", {.lease = long_lease}); });
    EXPECT_TRUE(proxy().has_acted());
    EXPECT_TRUE(is_as_expected(held.has_value())) << (held ? "it was adopted" : "it was not adopted");
    EXPECT_NE(e.has_value(), held.has_value());
    EXPECT_TRUE(!e || e->outcome_is_unknown()) << e->what();
    EXPECT_TRUE(!held || (is_held_by("orders/42", *held) && held->token() > before));
    held.reset();
    EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
    const auto next = other_.try_acquire("orders/42");
    ASSERT_TRUE(next && is_held_by("orders/42", *next));
    before = next->token();
  }
}

TEST_P(lost_reply, of_a_try_for_a_held_name_harms_nobody) {
  const auto theirs = other_.acquire("orders/42", {.lease = long_lease});
  disturb(acquiring("orders/42"));
  std::optional<held_lock> held;
  error_of([&] { return (held = locks_.try_acquire("orders/42", {.lease = long_lease})).has_value(); });
  EXPECT_FALSE(held.has_value());
  locks_.close();
  EXPECT_TRUE(is_held_by("orders/42", theirs));
}

TEST_P(lost_reply, of_freeing_is_told_and_harms_nobody_who_comes_later) {
  auto locks = connect();
  auto desk = connect_through_proxy();
  const auto held = locks.acquire("orders/42", {.lease = long_lease});
  disturb(freeing("orders/42", held.token()));
  const auto e = error_of([&] { return desk.force_release("orders/42"); });
  EXPECT_TRUE(proxy().has_acted());
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->outcome_is_unknown()) << e->what();
  static_cast<void>(locks.force_release("orders/42", held.token()));
  const auto next = locks.acquire("orders/42", {.lease = long_lease});
  EXPECT_NO_THROW(desk.check());
  desk.close();
  EXPECT_TRUE(is_held_by("orders/42", next));
}

TEST_P(lost_reply, does_not_end_a_wait) {
  disturb(acquiring("orders/42"));
  const stopwatch watch;
  auto held = locks_.try_acquire_for("orders/42", soon, {.lease = long_lease});
  EXPECT_TRUE(proxy().has_acted());
  ASSERT_TRUE(held.has_value());
  EXPECT_LT(watch.elapsed(), soon);
  EXPECT_TRUE(is_held_by("orders/42", *held));
  EXPECT_FALSE(other_.try_acquire("orders/42").has_value());
  held->release();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(lost_reply, does_not_end_a_wait_behind_a_holder) {
  auto theirs = other_.acquire("orders/42", {.lease = long_lease});
  background waiter{waiting(locks_, {.lease = long_lease})};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  disturb(about("orders/42"));  // a name that is held may only be looked at
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  EXPECT_TRUE(is_held_by("orders/42", theirs));
  theirs.release();
  const auto held = waiter.get();
  EXPECT_GT(held.token(), fencing_token{});
  EXPECT_TRUE(is_held_by("orders/42", held));
}

// Whether the ticket is there or not, the waiter takes another, and has no more than that one.
TEST_P(lost_reply, of_taking_a_ticket_does_not_end_a_wait) {
  auto theirs = other_.acquire("orders/42", {.lease = long_lease});
  disturb(taking_a_ticket("orders/42"));
  background one{waiting(locks_, {.fairness = fairness::fifo})};
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  EXPECT_TRUE(eventually(soon, [&] {
    const auto all = other_.waiters("orders/42");
    return all.size() == 1 && db().tickets("orders/42") == 1;
  }));
  EXPECT_FALSE(one.is_done_within(a_moment));
  theirs.release();
  const auto held = one.get();
  EXPECT_TRUE(is_held_by("orders/42", held));
  EXPECT_TRUE(is_waited_for("orders/42", 0));
}

// Of a wait that nobody has any patience for, as well.
TEST_P(lost_reply, of_taking_a_ticket_leaves_none_behind) {
  const auto theirs = other_.acquire("orders/42", {.lease = long_lease});
  disturb(taking_a_ticket("orders/42"));
  {
    background one{[&](std::stop_token stop) { return locks_.try_acquire_for("orders/42", 1h, {}, std::move(stop)); }};
    ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  }
  EXPECT_TRUE(eventually(soon, [&] { return db().tickets("orders/42") == 0; }));
}

TEST_P(lost_reply, of_a_renewal_does_not_lose_the_lock) {
  const auto held = locks_.acquire("orders/42", {.lease = 5s});
  disturb(about("orders/42"));
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_TRUE(is_held_by("orders/42", held));
}

TEST_P(lost_reply, of_an_extend_keeps_the_shorter_lease_at_least) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  disturb(about("orders/42"));
  const auto e = error_of([&] { held.extend(5s); });
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->outcome_is_unknown()) << e->what();
  EXPECT_LE(held.expires_in().value(), 5s);
  held.extend(long_lease);
  EXPECT_GT(held.expires_in().value(), 5s);
  EXPECT_TRUE(is_held_by("orders/42", held));
}

TEST_P(lost_reply, of_a_release_leaves_no_lock_behind) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  const auto lost = held.lost();
  disturb(about("orders/42"));
  const stopwatch since;
  const auto e = error_of([&] { held.release(); });
  EXPECT_TRUE(proxy().has_acted());
  EXPECT_FALSE(static_cast<bool>(held)) << "empty afterwards, always";
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
  if (!what().reaches_server()) {
    EXPECT_GE(since.elapsed(), 1s) << "repeated while somebody may believe in what it granted and a crash has undone";
  }
  EXPECT_FALSE(lost.stop_requested());
  ASSERT_TRUE(e.has_value()) << "nobody knows whether it has been done";
  EXPECT_TRUE(e->outcome_is_unknown()) << e->what();
}

TEST_P(lost_reply, of_a_release_by_a_destructor_is_made_up_for) {
  {
    const auto held = locks_.acquire("orders/42", {.lease = long_lease});
    disturb(about("orders/42"));
  }
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
}

// One of the requests of a release: to release the name if nobody waits, to look who is first, to grant it to that one.
TEST_P(lost_reply, of_a_release_grants_the_lock_to_the_one_who_waits_and_to_nobody_else) {
  fencing_token last{};
  for (int before = 0; before < 3; ++before) {
    auto locks = connect_through_proxy();
    auto held = locks.acquire("orders/42", {.lease = long_lease});
    EXPECT_GT(held.token(), last);
    background waiter{waiting(other_, {.lease = long_lease, .fairness = fairness::fifo})};
    ASSERT_TRUE(is_waited_for("orders/42"));
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    disturb([is_about = about("orders/42"), left = before](std::string_view request) mutable {
      return is_about(request) && left-- == 0;
    });
    const auto token = held.token();
    const auto e = error_of([&] { held.release(); });
    EXPECT_TRUE(is_done_unknown_or_retryable(e));
    const auto next = waiter.get();
    EXPECT_GT(next.token(), token);
    EXPECT_TRUE(is_held_by("orders/42", next));
    last = next.token();
  }
}

// The look may be under way already when the name is released: then there is nothing to disturb, and it is done again.
TEST_P(lost_reply, of_the_look_that_claims_what_a_release_has_granted) {
  for (int i = 0; i < 10 && !proxy().has_acted(); ++i) {
    const auto name = "orders/" + std::to_string(i);
    auto theirs = other_.acquire(name, {.lease = long_lease});
    background waiter{waiting(locks_, {.lease = long_lease, .fairness = fairness::fifo}, name)};
    ASSERT_TRUE(is_waited_for(name));
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    disturb(about(name));
    const auto token = theirs.token();
    theirs.release();
    const auto next = waiter.get();
    EXPECT_GT(next.token(), token);
    EXPECT_TRUE(is_held_by(name, next));
  }
  EXPECT_TRUE(proxy().has_acted());
}

class slow_network : public on_each_server_by_proxy {};
ROWLOCK_SUITE_ON_EACH_SERVER(slow_network);

TEST_P(slow_network, is_no_fault) {
  auto locks = connect_by_proxy();
  locks.acquire("orders/42").release();  // the schema is read, statements are prepared
  const auto one_way = 100ms;
  proxy().delay(one_way);
  const stopwatch watch;
  auto held = locks.try_acquire("orders/42", {.lease = 5s});
  EXPECT_GE(watch.elapsed(), 2 * one_way);
  ASSERT_TRUE(held.has_value());
  EXPECT_LE(held->expires_in().value(), 5s - 500ms - 2 * one_way)
      << "the lease counts from before the request, less the margin";
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_TRUE(is_held_by("orders/42", *held));
  held->release();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(slow_network, brings_no_lock_whose_lease_is_over_before_the_answer_comes) {
  auto locks = connect_by_proxy();
  locks.acquire("orders/42").release();
  proxy().delay(150ms);
  EXPECT_FALSE(locks.try_acquire("orders/42", {.lease = 300ms, .renew = false}).has_value());
  EXPECT_EQ(locks.stats().held, 0U);
}

TEST_P(slow_network, that_comes_back_within_the_lease_loses_nothing) {
  auto locks = connect_through_proxy();
  const auto held = locks.acquire("orders/42", {.lease = 6s});
  proxy().black_hole(true);
  let_pass(3s);
  proxy().black_hole(false);
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_P(slow_network, that_does_not_come_back_in_time_is_told_before_the_lease_ends) {
  auto locks = connect_through_proxy();
  const auto held = locks.acquire("orders/42", {.lease = 3s});
  proxy().black_hole(true);
  ASSERT_TRUE(eventually([&] {
    const auto now = db().now();
    if (held.lost().stop_requested()) return true;
    EXPECT_LT(now, expiry("orders/42")) << "another client may have it, and its holder still believes in it";
    return false;
  }));
  EXPECT_EQ(held.why_lost(), loss_reason::unreachable);
  proxy().black_hole(false);
  EXPECT_TRUE(eventually([&] { return is_vacant("orders/42"); }));
  EXPECT_TRUE(locks.try_acquire_for("orders/42", soon).has_value()) << "the client itself goes on";
}

// Where a network is silent for some seconds, TCP may repeat what it has sent only long after that.
TEST_P(slow_network, that_loses_what_a_new_connection_sends_costs_only_that_one) {
  auto locks = connect_by_proxy({.call_timeout = 3 * patience});
  proxy().cut();
  proxy().on_request([](std::string_view /*any*/) { return true; }, tcp_proxy::action::black_hole_before);
  background call{[&](const std::stop_token&) { return locks.try_acquire("orders/42").has_value(); }};
  EXPECT_TRUE(call.is_done_within(patience));
  EXPECT_TRUE(call.get());
  EXPECT_TRUE(proxy().has_acted());
}

TEST_P(slow_network, that_refuses_connections_is_ridden_out_by_a_wait) {
  auto locks = connect_through_proxy();
  proxy().refuse(true);
  proxy().cut();
  background waiter{waiting(locks)};
  EXPECT_FALSE(waiter.is_done_within(short_call));
  proxy().refuse(false);
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

TEST_P(lost_reply, of_a_release_that_is_to_stay_is_made_up_for) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease, .at_least = 30min});
  const auto end = db().row("orders/42").value().acquired_at.value() + std::chrono::microseconds{30min}.count();
  disturb(about("orders/42"));
  error_of([&] { held.release(); });
  EXPECT_TRUE(proxy().has_acted());
  EXPECT_TRUE(eventually(soon, [&] { return expiry("orders/42") == end; }));
  locks_.close();
  EXPECT_FALSE(is_vacant("orders/42"));
  EXPECT_EQ(expiry("orders/42"), end);
}

}  // namespace
}  // namespace rowlock::test
