#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/waits.hpp"
#include "engine/queue/listening_source.hpp"
#include "testkit/eventually.hpp"

// With a server that the test plays: no time needs to pass.

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
struct sleeping_test : testing::Test {
  std::shared_ptr<bed> last_bed() {
    const std::lock_guard lock{mutex};
    return beds.empty() ? nullptr : beds.back();
  }
  int count(const std::string& what) {
    const std::lock_guard lock{mutex};
    return static_cast<int>(std::count(happened.begin(), happened.end(), what));
  }
  void note(const std::string& what) {
    const std::lock_guard lock{mutex};
    happened.push_back(what);
  }
  bool is_begun(int times) {
    return eventually([&] { return count("begin") >= times; });
  }
  bool wake() {
    return eventually([&] { return last_bed()->wake(); });
  }

  std::mutex mutex;
  std::vector<std::shared_ptr<bed>> beds;
  std::vector<std::string> happened;
  std::vector<std::string> warnings;
  std::vector<std::error_code> polling;
  std::function<void()> on_open = [] {};
  std::function<void()> on_ring = [this] { last_bed()->wake(); };
  duration longest_call = 5s;
};

class sleeping_source final : public engine::listening_source {
 public:
  explicit sleeping_source(sleeping_test& to)
      : listening_source{driver::foreign_news::woken, to.longest_call}, to_{to} {}
  sleeping_source(const sleeping_source&) = delete;
  sleeping_source& operator=(const sleeping_source&) = delete;
  ~sleeping_source() override { stop(); }

 private:
  std::unique_ptr<driver::listener> open(const driver::limits& /*until*/) override {
    to_.note("open");
    to_.on_open();
    auto fresh = std::make_shared<bed>();
    const std::lock_guard lock{to_.mutex};
    to_.beds.push_back(fresh);
    return std::make_unique<sleeper>(fresh);
  }
  void ring(const driver::limits& /*until*/) override { to_.on_ring(); }
  void heard(const std::string& /*name*/) override { to_.note("heard"); }
  void woken(const driver::limits& /*until*/) override { to_.note("woken"); }
  void falls_asleep() noexcept override { to_.note("sleep"); }
  void began() override { to_.note("begin"); }
  void ended() noexcept override { to_.note("end"); }
  void warn(const std::string& sentence) override {
    to_.note("warn");
    const std::lock_guard lock{to_.mutex};
    to_.warnings.push_back(sentence);
  }
  void polling(const error& why) noexcept override {
    const std::lock_guard lock{to_.mutex};
    to_.polling.push_back(why.code());
  }

  sleeping_test& to_;
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
