#include <array>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/slowness.hpp"

// However a wait ends, and whichever call waits.

namespace rowlock::test {
namespace {

class waiting : public two_clients {
 protected:
  static inline const std::string granted = "granted";
  static inline const std::string nothing = "nothing";
  static std::string text_of(errc code) { return make_error_code(code).message(); }

  /// A call that waits for the name without end: whether it was granted, and what it answers when it is stopped.
  struct way {
    const char* name;
    bool (*wait)(client& by, std::stop_token stop);
    std::string when_stopped = text_of(errc::cancelled);
  };
  static std::vector<way> ways() {
    static const std::array one_name{lock_name{"orders/42"}};
    std::vector<way> out{
        {"acquire", [](client& by, std::stop_token stop) { return bool{by.acquire("orders/42", with(), stop)}; }},
        {"try_acquire_for",
         [](client& by, std::stop_token stop) {
           return by.try_acquire_for("orders/42", std::chrono::hours::max(), with(), stop).has_value();
         },
         nothing},
        {"mutex",
         [](client& by, std::stop_token stop) {
           mutex order{by, "orders/42", with()};
           return order.lock(stop);
         },
         nothing},
        {"acquire_any", [](client& by, std::stop_token stop) { return bool{by.acquire_any(one_name, with(), stop)}; }},
        {"acquire_shared",
         [](client& by, std::stop_token stop) { return bool{by.acquire_shared("orders/42", {}, stop)}; }},
        {"semaphore",
         [](client& by, std::stop_token stop) {
           semaphore permits{by, "orders/42", 2};
           return bool{permits.acquire(1, stop)};
         }},
        {"multi_lock", [](client& by, std::stop_token stop) {
           multi_lock parts{{{by, "orders/42"}}, with()};
           return bool{parts.acquire(stop)};
         }}};
    if (!GetParam().has_lease) return out;
    out.push_back(
        {"acquire_all", [](client& by, std::stop_token stop) { return bool{by.acquire_all(one_name, with(), stop)}; }});
    out.push_back({"election", [](client& by, std::stop_token stop) {
                     election lead{by, "orders/42", {.lock = with()}};
                     return bool{lead.campaign(stop)};
                   }});
    return out;
  }
  static std::string outcome(const way& how, client& by, std::stop_token stop) {
    try {
      return how.wait(by, std::move(stop)) ? granted : nothing;
    } catch (const error& e) {
      return e.code().message();
    }
  }
  using started = std::unique_ptr<background<std::string>>;
  static started start_to_wait(const way& how, client& by) {
    return std::make_unique<background<std::string>>(
        [&by, how](std::stop_token stop) { return outcome(how, by, std::move(stop)); });
  }
};
ROWLOCK_CONTRACT_SUITE(waiting, every_pair());
class waiting_for_leases : public waiting {};
ROWLOCK_CONTRACT_SUITE(waiting_for_leases, leases(every_pair()));

TEST_P(waiting, ends_when_it_is_stopped) {
  const auto held = other_.acquire("orders/42", with());
  for (const auto& each : ways()) {
    const auto waiter = start_to_wait(each, locks_);
    EXPECT_FALSE(waiter->is_done_within(a_moment)) << each.name;
    const stopwatch watch;
    waiter->stop();
    EXPECT_EQ(waiter->get(), each.when_stopped) << each.name;
    EXPECT_LT(watch.elapsed(), slack()) << each.name;
  }
}

TEST_P(waiting, ends_with_the_release) {
  for (const auto& each : ways())
    for (auto* const by : {&locks_, &other_}) {
      auto held = other_.acquire("orders/42", with());
      const auto waiter = start_to_wait(each, *by);
      EXPECT_FALSE(waiter->is_done_within(a_moment)) << each.name;
      const stopwatch watch;
      held.release();
      EXPECT_EQ(waiter->get(), granted) << each.name;
      EXPECT_LT(watch.elapsed(), patience / 3) << each.name << ", long before the lease of 30 s could have ended";
    }
}

TEST_P(waiting, ends_with_its_client) {
  for (const bool is_held_by_itself : {false, true}) {
    auto locks = connect();
    const auto held = (is_held_by_itself ? locks : other_).acquire("orders/42", with());
    std::vector<started> all;
    for (const auto& each : ways()) all.push_back(start_to_wait(each, locks));
    for (const auto& each : all) EXPECT_FALSE(each->is_done_within(a_moment));
    const stopwatch watch;
    locks.close();
    for (const auto& each : all) EXPECT_EQ(each->get(), text_of(errc::client_closed));
    // Who asks for a share waits for the row that a transaction has locked: a second, and MySQL looks once a second.
    const auto row_wait = GetParam().holds_by_transaction ? 2s : 0s;
    EXPECT_LT(watch.elapsed(), slack() + row_wait);
    EXPECT_EQ(can_have(other_, "orders/42"), is_held_by_itself);
  }
}

TEST_P(waiting_for_leases, ends_with_the_lease_of_the_holder_and_not_a_lease_later) {
  for (const auto& each : ways()) {
    const auto held = other_.acquire("orders/42", with({.lease = 500ms, .renew = false}));
    const auto end = db().row("orders/42").value().expires_at.value();
    EXPECT_EQ(outcome(each, locks_, {}), granted) << each.name;
    const auto start = db().row("orders/42").value().acquired_at.value();
    EXPECT_GE(start, end) << each.name;
    EXPECT_LT(start - end, std::chrono::microseconds{patience / 3}.count()) << each.name;
  }
}

TEST_P(waiting, that_was_stopped_before_it_began_is_not_tried) {
  std::stop_source stopped;
  stopped.request_stop();
  const auto stop = stopped.get_token();
  for (const auto& each : ways()) EXPECT_EQ(outcome(each, locks_, stop), each.when_stopped) << each.name;
  EXPECT_FALSE(locks_.try_acquire_until("orders/42", std::chrono::steady_clock::now() + 1h, with(), stop).has_value());
  EXPECT_FALSE(locks_.try_acquire_for("orders/42", 0s, with(), stop).has_value());
  EXPECT_FALSE(db().row("orders/42").has_value()) << "a free name would have been taken";
}

TEST_P(waiting, that_is_stopped_leaves_the_others_waiting) {
  auto held = locks_.acquire("orders/42", with());
  const auto acquire = ways().front();
  const auto one = start_to_wait(acquire, other_);
  const auto two = start_to_wait(acquire, other_);
  const auto three = start_to_wait(acquire, locks_);
  EXPECT_FALSE(one->is_done_within(a_moment));
  one->stop();
  EXPECT_EQ(one->get(), acquire.when_stopped);
  EXPECT_FALSE(two->is_done_within(a_moment));
  EXPECT_FALSE(three->is_done_within(a_moment));
  held.release();
  EXPECT_EQ(two->get(), granted);
  EXPECT_EQ(three->get(), granted);
}

TEST_P(waiting, that_is_stopped_after_the_grant_has_it) {
  std::stop_source source;
  const auto held = locks_.acquire("orders/42", with(), source.get_token());
  mutex order{locks_, "orders/43", with()};
  EXPECT_TRUE(order.lock(source.get_token()));
  source.request_stop();
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(order.held().lost().stop_requested());
  EXPECT_FALSE(can_have(locks_, "orders/42"));
  EXPECT_FALSE(can_have(locks_, "orders/43"));
}

// Either answer is right, but nothing may stay taken.
TEST_P(waiting, that_is_stopped_as_the_lock_comes_free_leaves_nothing_taken) {
  const auto all = ways();
  for (std::size_t i = 0; i < 5 * all.size(); ++i) {
    const auto& each = all.at(i % all.size());
    auto held = locks_.acquire("orders/42", with());
    const auto waiter = start_to_wait(each, other_);
    if (i % 2 == 0) static_cast<void>(waiter->is_done_within(std::chrono::milliseconds{i % 8}));
    held.release();
    waiter->stop();
    const auto what = waiter->get();
    EXPECT_TRUE(what == granted || what == each.when_stopped) << each.name << ": " << what;
    ASSERT_TRUE(eventually([&] { return can_have(locks_, "orders/42"); })) << each.name;
  }
}

}  // namespace
}  // namespace rowlock::test
