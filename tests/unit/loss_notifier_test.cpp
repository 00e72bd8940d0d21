#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/boot_clock.hpp"
#include "engine/lease/watchdog.hpp"
#include "support/happening.hpp"

// Callbacks that last, or never return, hold up no other token.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::loss_notifier;
using test::happening;

std::vector<loss_notifier::loss> losses_of(const std::vector<std::stop_source>& tokens) {
  std::vector<loss_notifier::loss> out;
  for (const auto& each : tokens) out.push_back({.token = each});
  return out;
}

/// A token whose callback does not return until it is let.
struct stuck {
  std::stop_source token;
  happening entered;
  happening let_go;
  std::stop_callback<std::function<void()>> callback{token.get_token(), [this] {
                                                       entered.happens();
                                                       EXPECT_TRUE(let_go.within());
                                                     }};
};

TEST(loss_notifier, fires_all_though_each_callback_lasts) {
  std::vector<std::unique_ptr<stuck>> all;
  std::vector<std::stop_source> tokens;
  for (int i = 0; i < 20; ++i) tokens.push_back(all.emplace_back(std::make_unique<stuck>())->token);
  loss_notifier notifier;
  notifier.fire(losses_of(tokens));
  for (const auto& each : all) EXPECT_TRUE(each->entered.within());
  for (const auto& each : all) each->let_go.happens();
  notifier.close(base::instant::max());
}

TEST(loss_notifier, fires_what_comes_while_a_callback_lasts) {
  stuck first;
  const std::stop_source second;
  happening fired;
  const std::stop_callback callback{second.get_token(), [&] { fired.happens(); }};
  loss_notifier notifier;
  notifier.fire(losses_of({first.token}));
  ASSERT_TRUE(first.entered.within());
  notifier.fire(losses_of({second}));
  EXPECT_TRUE(fired.within());
  first.let_go.happens();
}

TEST(loss_notifier, tells_once_it_has_fired_though_the_callback_lasts) {
  stuck slow;
  int told = 0;
  loss_notifier notifier;
  notifier.fire({{.token = slow.token, .then = [&] { ++told; }}});
  ASSERT_TRUE(slow.entered.within());
  EXPECT_EQ(notifier.look(), base::instant::max()) << "there is nothing else to tell";
  EXPECT_EQ(told, 1);
  slow.let_go.happens();
  notifier.close(base::instant::max());
  EXPECT_EQ(told, 1);
}

TEST(loss_notifier, lets_others_wait_for_the_callbacks) {
  stuck slow;
  loss_notifier notifier;
  const auto callbacks = std::make_shared<engine::pending_callbacks>(1);
  notifier.fire({{.token = slow.token, .waited_for_by = callbacks}});
  ASSERT_TRUE(slow.entered.within());
  callbacks->wait(base::now());
  slow.let_go.happens();
  callbacks->wait(base::instant::max());
}

TEST(loss_notifier, leaves_a_callback_behind_that_does_not_return) {
  const auto slow = std::make_unique<stuck>();
  std::atomic<int> told{0};
  {
    loss_notifier notifier;
    notifier.fire({{.token = slow->token, .then = [&] { ++told; }}});
    ASSERT_TRUE(slow->entered.within());
    notifier.close(base::now());
    EXPECT_EQ(told, 1) << "at the latest then";
  }
  slow->let_go.happens();
}

TEST(loss_notifier, can_be_closed_and_destroyed_by_a_callback) {
  auto notifier = std::make_unique<loss_notifier>();
  happening is_over;
  const std::stop_source token;
  const std::stop_callback callback{token.get_token(), [&] {
                                      notifier->close(base::instant::max());
                                      notifier.reset();
                                      is_over.happens();
                                    }};
  notifier->fire(losses_of({token}));
  ASSERT_TRUE(is_over.within());
}

TEST(loss_notifier, closed_has_called_all_callbacks) {
  std::vector<std::stop_source> tokens(200);
  std::atomic<int> calls{0};
  int told = 0;
  const auto count = [&] { ++calls; };
  std::vector<std::unique_ptr<std::stop_callback<decltype(count)>>> callbacks;
  for (const auto& each : tokens)
    callbacks.push_back(std::make_unique<std::stop_callback<decltype(count)>>(each.get_token(), count));
  auto losses = losses_of(tokens);
  for (auto& each : losses) each.then = [&] { ++told; };
  loss_notifier notifier;
  notifier.fire(std::move(losses));
  notifier.close(base::instant::max());
  EXPECT_EQ(calls, 200);
  EXPECT_EQ(told, 200);
}

}  // namespace
}  // namespace rowlock
