#include <rowlock/semaphore.hpp>

#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "server/server_test.hpp"
#include "support/calls.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"
#include "support/wait_storm.hpp"

namespace rowlock::test {
namespace {

using asynchronous_by_proxy = on_each_server_by_proxy;
ROWLOCK_SUITE_ON_EACH_SERVER(asynchronous_by_proxy);

TEST_P(asynchronous_by_proxy, waits_over_lost_connections_are_each_answered_once) {
  wait_storm storm{seed()};
  auto direct = connect();
  std::vector<std::unique_ptr<client>> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(std::make_unique<client>(connect_through_proxy()));
  const auto number = static_cast<std::size_t>(many(10'000, 600));
  for (std::size_t i = 0; i < number; ++i) {
    storm.begin(*clients[storm.number(clients.size())]);
    if (storm.number(4) == 0) storm.cancel_one();
    if (storm.number(number / 20) == 0) proxy().cut();
  }
  const auto before = storm.granted();
  EXPECT_TRUE(eventually([&] { return storm.granted() > before || storm.are_all_answered(); }))
      << "no wait survived the lost connections";
  clients.pop_back();
  proxy().cut();
  storm.cancel_all();
  EXPECT_TRUE(eventually([&] { return storm.are_all_answered(); })) << storm.unanswered() << " have no answer";
  clients.clear();
  storm.expect_one_answer_each();
  EXPECT_GT(storm.granted(), 0);
  // What could not be withdrawn over a lost connection ends by itself.
  for (std::size_t i = 0; i < wait_storm::names; ++i)
    EXPECT_TRUE(direct.try_acquire_for(wait_storm::name(i), long_lease).has_value());
}

/// A wait that is stopped as it sends a request: each one after the other, so that whatever it does next is done by a
/// call that is stopped.
class stopped_at_each_request : public asynchronous_by_proxy {
 protected:
  /// `hold` makes the wait that `start` begins necessary.
  template <class Hold, class Start>
  void try_each(const Hold& hold, const Start& start) {
    int at = 0;
    for (bool was_stopped = true; was_stopped;) {
      SCOPED_TRACE(++at);
      was_stopped = stop_at(at, hold, start);
    }
    EXPECT_GT(at, 3) << "it tries, takes a ticket, and has the lock";
  }
  const lock_options fifo_{.fairness = fairness::fifo};
  const lock_options any_order_{.fairness = fairness::unfair};

 private:
  template <class Hold, class Start>
  bool stop_at(int request, const Hold& hold, const Start& start) {
    std::stop_source end;
    std::atomic<bool> was_stopped{false};
    auto theirs = hold(direct_);
    on_request(
        [&, left = request](std::string_view) mutable {
          if (--left == 0) was_stopped = end.request_stop();
          return false;
        },
        tcp_proxy::action::hold);
    auto answer = start(locks_, end.get_token());
    EXPECT_TRUE(eventually([&] { return was_stopped || is_waited_for_now(); }));
    theirs.release();
    EXPECT_EQ(answer.wait_for(soon), std::future_status::ready);
    const auto stopped = error_of([&] { static_cast<void>(answer.get().get()); });
    EXPECT_TRUE(!stopped || (was_stopped && stopped->code() == errc::cancelled)) << stopped->what();
    const stopwatch watch;
    hold(direct_).release();
    EXPECT_LT(watch.elapsed(), soon) << "something stayed taken";
    EXPECT_TRUE(eventually([&] { return !is_waited_for_now(); }));
    on_request([](std::string_view) { return false; }, tcp_proxy::action::hold);
    return was_stopped;
  }
  bool is_waited_for_now() { return db().tickets("orders/42") + db().tickets("orders/43") > 0; }

  client locks_ = connect_through_proxy();
  client direct_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(stopped_at_each_request);

constexpr auto hold_both = [](client& by) { return by.acquire_all({"orders/42", "orders/43"}); };

TEST_P(stopped_at_each_request, of_a_wait_in_any_order) {
  try_each(hold_both, [&](client& by, std::stop_token stop) {
    return begin(by.acquire_async("orders/42", any_order_, std::move(stop)));
  });
}

TEST_P(stopped_at_each_request, of_a_wait_in_turn) {
  try_each(hold_both, [&](client& by, std::stop_token stop) {
    return begin(by.acquire_async("orders/42", fifo_, std::move(stop)), way_of_calling::coroutine);
  });
}

TEST_P(stopped_at_each_request, of_a_shared_wait) {
  try_each(hold_both, [&](client& by, std::stop_token stop) {
    return begin(by.acquire_shared_async("orders/42", fifo_, std::move(stop)));
  });
}

TEST_P(stopped_at_each_request, of_a_wait_for_any_of_several) {
  try_each(hold_both, [&](client& by, std::stop_token stop) {
    return begin(by.acquire_any_async({"orders/42", "orders/43"}, fifo_, std::move(stop)));
  });
}

TEST_P(stopped_at_each_request, of_a_wait_for_a_set) {
  try_each(hold_both, [&](client& by, std::stop_token stop) {
    return begin(by.acquire_all_async({"orders/42", "orders/43"}, fifo_, std::move(stop)));
  });
}

TEST_P(stopped_at_each_request, of_a_wait_for_permits) {
  try_each(
      [](client& by) {
        return semaphore{by, "orders/42", 2}.acquire();
      },
      [](client& by, std::stop_token stop) {
        return begin(semaphore{by, "orders/42", 2}.acquire_async(2, std::move(stop)));
      });
}

}  // namespace
}  // namespace rowlock::test
