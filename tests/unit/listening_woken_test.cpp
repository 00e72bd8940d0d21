#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/waits.hpp"
#include "testkit/eventually.hpp"
#include "unit/played_listening.hpp"

// Sleeping sessions are woken.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// A session of that server, which sleeps.
class bed {
 public:
  bool sleep(base::instant until, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    is_asleep_ = true;
    base::wait_until(changed_, lock, until, stop, [&] { return is_woken_ || is_over_ || has_ended_; });
    is_asleep_ = is_over_ = false;
    if (has_ended_) throw error{errc::connection_failed, "the server has gone"};
    return std::exchange(is_woken_, false);
  }
  /// To wake a session that does not sleep has no effect.
  bool wake() {
    const std::lock_guard lock{mutex_};
    if (!is_asleep_) return false;
    is_woken_ = true;
    changed_.notify_all();
    return true;
  }
  /// As if the time were over.
  bool end_sleep() {
    const std::lock_guard lock{mutex_};
    if (!is_asleep_) return false;
    is_over_ = true;
    changed_.notify_all();
    return true;
  }
  void end() {
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    changed_.notify_all();
  }
  bool is_asleep() {
    const std::lock_guard lock{mutex_};
    return is_asleep_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_asleep_ = false;
  bool is_woken_ = false;
  bool is_over_ = false;
  bool has_ended_ = false;
};

class sleeper final : public driver::listener {
 public:
  explicit sleeper(std::shared_ptr<bed> in) : bed_{std::move(in)} {}
  std::vector<std::string> wait(base::instant until, const std::stop_token& stop) override {
    return bed_->sleep(until, stop) ? std::vector<std::string>{std::string{}} : std::vector<std::string>{};
  }

 private:
  std::shared_ptr<bed> bed_;
};

/// A server on which sessions can be woken, unless it is told otherwise.
struct sleeping_test : test::played_listening<bed> {
  sleeping_test() {
    on_ring = [this] { last_bed()->wake(); };
  }
  std::shared_ptr<bed> last_bed() { return last(); }
  bool wake() {
    return eventually([&] { return last_bed()->wake(); });
  }
};

class sleeping_source final : public test::played_source<bed, sleeper> {
 public:
  explicit sleeping_source(sleeping_test& to) : played_source{driver::foreign_news::woken, to, to.longest_call} {}
};

TEST_F(sleeping_test, is_live_when_its_own_ring_has_woken_it) {
  sleeping_source source{*this};
  source.enter();
  ASSERT_TRUE(is_begun(1));
  EXPECT_TRUE(source.is_live());
  ASSERT_TRUE(eventually([&] { return last_bed()->is_asleep(); }));
  source.stop();
  EXPECT_EQ(happened, (std::vector<std::string>{"open", "sleep", "begin", "sleep"}));
}

TEST_F(sleeping_test, hints_each_time_it_is_woken_and_has_them_looked_for_that_came_between_two_sleeps) {
  sleeping_source source{*this};
  source.enter();
  ASSERT_TRUE(is_begun(1));
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(wake());
    ASSERT_TRUE(eventually([&] { return count("woken") == times; }));
    EXPECT_TRUE(eventually([&] { return count("sleep") == times + 2; }));
  }
}

TEST_F(sleeping_test, a_ring_that_comes_before_the_sleep_is_repeated) {
  int times = 0;
  on_ring = [&] {
    if (++times > 2) last_bed()->wake();
  };
  sleeping_source source{*this};
  source.enter();
  EXPECT_TRUE(is_begun(1));
}

TEST_F(sleeping_test, a_ring_without_effect_is_reported_once_and_it_is_not_live) {
  on_ring = [] {};
  longest_call = 1ms;
  sleeping_source source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("warn") == 1; }));
  EXPECT_FALSE(source.is_live());
  source.stop();
  EXPECT_EQ(happened, (std::vector<std::string>{"open", "sleep", "end", "warn"})) << "it is not tried again for long";
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("KILL QUERY"), std::string::npos) << warnings[0];
}

TEST_F(sleeping_test, a_ring_that_cannot_be_sent_proves_nothing) {
  on_ring = [] { throw error{errc::pool_exhausted, "no connection is free"}; };
  longest_call = 300ms;  // in which it rings at least once
  sleeping_source source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("end") >= 1; }));
  EXPECT_FALSE(source.is_live());
  source.stop();
  EXPECT_EQ(polling, std::vector<std::error_code>{errc::pool_exhausted});
}

TEST_F(sleeping_test, a_connection_that_ends_is_opened_again_and_those_who_wait_are_told) {
  sleeping_source source{*this};
  source.enter();
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(is_begun(times)) << "nobody knows what was told in between";
    EXPECT_EQ(count("end"), times - 1);
    last_bed()->end();
  }
  ASSERT_TRUE(is_begun(4));
  source.stop();
  EXPECT_EQ(count("warn"), 0);
  EXPECT_EQ(polling, std::vector<std::error_code>(3, errc::connection_failed));
}

TEST_F(sleeping_test, ends_after_a_sleep_in_which_nobody_has_waited) {
  sleeping_source source{*this};
  source.enter();
  ASSERT_TRUE(is_begun(1));
  const auto sleep = [&] { return eventually([&] { return last_bed()->end_sleep(); }); };
  ASSERT_TRUE(sleep());
  ASSERT_TRUE(eventually([&] { return count("sleep") == 3; })) << "somebody waits";
  source.leave();
  ASSERT_TRUE(sleep());
  ASSERT_TRUE(eventually([&] { return count("sleep") == 4; })) << "somebody has waited";
  ASSERT_TRUE(sleep());
  ASSERT_TRUE(eventually([&] { return count("end") == 1; }));
  EXPECT_FALSE(source.is_live());
  EXPECT_EQ(count("sleep"), 4);
  source.enter();
  EXPECT_TRUE(is_begun(2));
  source.stop();
  EXPECT_TRUE(polling.empty()) << "nobody needed it";
}

TEST_F(sleeping_test, stop_ends_it_wherever_it_is) {
  for (const bool hears : {true, false}) {
    if (!hears) on_ring = [] {};
    sleeping_source source{*this};
    const auto sleeps = count("sleep");
    source.enter();
    ASSERT_TRUE(eventually([&] { return count("sleep") > sleeps; }));
    source.stop();  // returns
  }
}

}  // namespace
}  // namespace rowlock
