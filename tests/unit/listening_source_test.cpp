#include "engine/queue/listening_source.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
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
#include "testkit/eventually.hpp"

// With a server that the test plays: no time needs to pass. Names are told on a connection, or its session sleeps and
// is woken.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using driver::foreign_news;
using test::eventually;
using words = std::vector<std::string>;
using codes = std::vector<std::error_code>;

class connection {
 public:
  words hear(base::instant until, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    is_asleep_ = true;
    base::wait_until(changed_, lock, until, stop, [&] { return has_ended_ || is_over_ || !said_.empty(); });
    is_asleep_ = is_over_ = false;
    if (has_ended_) throw error{errc::connection_failed, "the server has gone"};
    return std::exchange(said_, {});
  }
  /// "" is a ring.
  void say(const std::string& name) {
    change([&] { said_.push_back(name); });
  }
  void end() {
    change([&] { has_ended_ = true; });
  }
  /// To wake a session that does not sleep has no effect.
  bool wake() {
    return change([&] { said_ = {""}; }, true);
  }
  /// As if the time were over.
  bool end_sleep() {
    return change([&] { is_over_ = true; }, true);
  }
  bool is_asleep() {
    const std::lock_guard lock{mutex_};
    return is_asleep_;
  }

 private:
  template <class Do>
  bool change(Do what, bool only_asleep = false) {
    const std::lock_guard lock{mutex_};
    if (only_asleep && !is_asleep_) return false;
    what();
    changed_.notify_all();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  words said_;
  bool is_asleep_ = false;
  bool is_over_ = false;
  bool has_ended_ = false;
};

class listener final : public driver::listener {
 public:
  explicit listener(std::shared_ptr<connection> on) : on_{std::move(on)} {}
  words wait(base::instant until, const std::stop_token& stop) override { return on_->hear(until, stop); }

 private:
  std::shared_ptr<connection> on_;
};

/// A server on which sessions are told, or can be woken, unless the test says otherwise; and what happens.
struct played_server : testing::Test {
  explicit played_server(foreign_news by) : how{by} {}

  std::shared_ptr<connection> last() {
    const std::lock_guard lock{mutex};
    return opened.empty() ? nullptr : opened.back();
  }
  int count(const std::string& what) {
    const std::lock_guard lock{mutex};
    return static_cast<int>(std::count(happened.begin(), happened.end(), what));
  }
  void note(const std::string& what) {
    const std::lock_guard lock{mutex};
    happened.push_back(what);
  }
  bool happens(const std::string& what, int times = 1) {
    return eventually([&] { return count(what) >= times; });
  }
  bool is_told() const { return how == foreign_news::notified; }

  const foreign_news how;
  std::mutex mutex;
  std::vector<std::shared_ptr<connection>> opened;
  words happened;
  words warnings;
  codes polling;
  std::function<void()> on_open = [] {};
  std::function<void()> on_ring = [this] {
    if (is_told())
      last()->say("");
    else
      last()->wake();
  };
  duration longest_call = 5s;
};

class source : public engine::listening_source {
 public:
  explicit source(played_server& to) : source{to, to.longest_call} {}
  source(played_server& to, duration longest_call) : listening_source{to.how, longest_call}, to_{to} {}
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  ~source() override { stop(); }

 protected:
  std::unique_ptr<driver::listener> open(const driver::limits& /*until*/) override {
    to_.note("open");
    to_.on_open();
    auto fresh = std::make_shared<connection>();
    const std::lock_guard lock{to_.mutex};
    to_.opened.push_back(fresh);
    return std::make_unique<listener>(fresh);
  }
  played_server& to() { return to_; }

 private:
  void ring(const driver::limits& /*until*/) override {
    if (to_.is_told()) to_.note("ring");
    to_.on_ring();
  }
  void heard(const std::string& name) override { to_.note("heard " + name); }
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

  played_server& to_;
};

/// A source that clients wait by.
struct live_source final : source {
  explicit live_source(played_server& to) : source{to} {
    enter();
    EXPECT_TRUE(to.happens("begin"));
  }
  live_source(const live_source&) = delete;
  live_source& operator=(const live_source&) = delete;
  ~live_source() override { stop(); }
};

struct listening_test : played_server {
  listening_test() : played_server{foreign_news::notified} {}
};

struct sleeping_test : played_server {
  sleeping_test() : played_server{foreign_news::woken} {}
};

struct either_way_test : played_server, testing::WithParamInterface<foreign_news> {
  either_way_test() : played_server{GetParam()} {}
};
INSTANTIATE_TEST_SUITE_P(listening, either_way_test, testing::Values(foreign_news::notified, foreign_news::woken),
                         [](const auto& of) { return of.param == foreign_news::notified ? "told" : "woken"; });

TEST_P(either_way_test, is_live_when_it_has_heard_its_own_ring) {
  source one{*this};
  EXPECT_FALSE(one.is_live());
  one.enter();
  ASSERT_TRUE(happens("begin"));
  EXPECT_TRUE(one.is_live());
  ASSERT_TRUE(eventually([&] { return last()->is_asleep(); }));
  one.stop();
  EXPECT_EQ(happened, is_told() ? (words{"open", "ring", "begin"}) : (words{"open", "sleep", "begin", "sleep"}));
}

TEST_P(either_way_test, a_ring_without_effect_is_reported_once_and_it_is_not_live) {
  on_ring = [] {};
  longest_call = 1ms;
  source one{*this};
  one.enter();
  ASSERT_TRUE(happens("warn"));
  EXPECT_FALSE(one.is_live());
  one.stop();
  EXPECT_EQ(happened, (words{"open", is_told() ? "ring" : "sleep", "end", "warn"})) << "it is not tried again for long";
  ASSERT_EQ(warnings.size(), 1U);
  for (const auto& word : is_told() ? words{"PgBouncer", "client_options::transaction_pooling"} : words{"KILL QUERY"})
    EXPECT_NE(warnings[0].find(word), std::string::npos) << warnings[0];
}

TEST_P(either_way_test, a_connection_that_ends_is_opened_again_and_those_who_wait_are_told) {
  source one{*this};
  one.enter();
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(happens("begin", times)) << "nobody knows what was told in between";
    EXPECT_TRUE(one.is_live());
    EXPECT_EQ(count("end"), times - 1);
    last()->end();
  }
  ASSERT_TRUE(happens("begin", 4));
  one.stop();
  EXPECT_EQ(count("warn"), 0);
  EXPECT_EQ(polling, codes(3, errc::connection_failed));
}

TEST_P(either_way_test, stop_ends_it_wherever_it_is) {
  const auto* const step = is_told() ? "ring" : "sleep";
  for (const bool hears : {true, false}) {
    if (!hears) on_ring = [] {};
    source one{*this, 1h};
    const auto before = count(step);
    one.enter();
    ASSERT_TRUE(happens(step, before + 1));
    one.stop();  // returns
  }
}

TEST_F(listening_test, hints_what_it_hears) {
  live_source one{*this};
  last()->say("orders/42");
  EXPECT_TRUE(happens("heard orders/42"));
  last()->say("a");
  last()->say("");  // the ring of somebody else's check
  last()->say("b");
  EXPECT_TRUE(happens("heard a") && happens("heard b"));
  EXPECT_TRUE(one.is_live());
  EXPECT_EQ(count("heard "), 0) << "a ring names nothing";
  last()->end();
  ASSERT_TRUE(happens("begin", 2));
  last()->say("orders/42");
  EXPECT_TRUE(happens("heard orders/42", 2));
}

TEST_F(listening_test, names_that_come_before_the_ring_are_hinted_and_prove_nothing) {
  on_ring = [this] { last()->say("early"); };
  source one{*this};
  one.enter();
  ASSERT_TRUE(happens("heard early"));
  EXPECT_FALSE(one.is_live());
  EXPECT_EQ(count("begin"), 0);
  last()->say("");
  EXPECT_TRUE(happens("begin"));
  EXPECT_TRUE(one.is_live());
}

TEST_F(listening_test, what_is_not_supported_is_reported) {
  on_open = [] { throw error{errc::unsupported, "there is no LISTEN here"}; };
  source one{*this};
  one.enter();
  ASSERT_TRUE(happens("warn"));
  one.stop();
  EXPECT_NE(warnings.at(0).find("there is no LISTEN here"), std::string::npos) << warnings.at(0);
  EXPECT_EQ(warnings.at(0).find("PgBouncer"), std::string::npos) << "nothing shows that a pooler is the cause";
  EXPECT_EQ(warnings.at(0).find("pooling"), std::string::npos) << warnings.at(0);
}

TEST_F(listening_test, a_server_that_is_away_for_a_moment_is_waited_for) {
  int times = 0;
  on_open = [&] {
    if (++times <= 2) throw error{errc::connection_failed, "no server"};
  };
  live_source one{*this};
  one.stop();
  EXPECT_EQ(happened, (words{"open", "end", "open", "end", "open", "ring", "begin"}));
  EXPECT_EQ(polling, codes{errc::connection_failed}) << "once until it is live";
}

// It takes the time after which that is worth a word.
TEST_F(listening_test, a_server_that_is_away_for_longer_is_not_said_to_know_no_LISTEN) {
  std::atomic<bool> is_away{true};
  on_open = [&] {
    if (is_away) throw error{errc::connection_failed, "no server"};
  };
  source one{*this};
  one.enter();
  ASSERT_TRUE(happens("warn"));
  is_away = false;
  ASSERT_TRUE(happens("begin"));
  one.stop();
  EXPECT_EQ(warnings.at(0),
            "the connection that listens for released locks is lost, so waiting clients poll the server until it is "
            "restored: no server");
}

TEST_F(listening_test, nobody_is_told_that_it_is_not_live_while_nobody_waits) {
  live_source one{*this};
  one.leave();
  last()->end();
  ASSERT_TRUE(happens("end"));
  one.enter();
  ASSERT_TRUE(happens("begin", 2));
  one.stop();
  EXPECT_TRUE(polling.empty());
}

TEST_F(listening_test, what_stop_cuts_short_is_not_reported) {
  struct slow_to_open final : source {
    using source::source;
    slow_to_open(const slow_to_open&) = delete;
    slow_to_open& operator=(const slow_to_open&) = delete;
    ~slow_to_open() override { stop(); }
    std::unique_ptr<driver::listener> open(const driver::limits& until) override {
      to().note("open");
      static_cast<void>(eventually([&] { return until.stop.stop_requested(); }));
      throw error{errc::cancelled, "cancelled"};
    }
  };
  slow_to_open one{*this};
  one.enter();
  ASSERT_TRUE(happens("open"));
  one.stop();
  EXPECT_EQ(happened, words{"open"});
}

TEST_F(sleeping_test, hints_each_time_it_is_woken_and_has_them_looked_for_that_came_between_two_sleeps) {
  live_source one{*this};
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(eventually([&] { return last()->wake(); }));
    ASSERT_TRUE(happens("woken", times));
    EXPECT_TRUE(happens("sleep", times + 2));
  }
}

TEST_F(sleeping_test, a_ring_that_comes_before_the_sleep_is_repeated) {
  int times = 0;
  on_ring = [&] {
    if (++times > 2) last()->wake();
  };
  const live_source one{*this};
}

TEST_F(sleeping_test, a_ring_that_cannot_be_sent_proves_nothing) {
  on_ring = [] { throw error{errc::pool_exhausted, "no connection is free"}; };
  longest_call = 300ms;  // in which it rings at least once
  source one{*this};
  one.enter();
  ASSERT_TRUE(happens("end"));
  EXPECT_FALSE(one.is_live());
  one.stop();
  EXPECT_EQ(polling, codes{errc::pool_exhausted});
}

TEST_F(sleeping_test, ends_after_a_sleep_in_which_nobody_has_waited) {
  live_source one{*this};
  const auto sleep = [&] { return eventually([&] { return last()->end_sleep(); }); };
  ASSERT_TRUE(sleep());
  ASSERT_TRUE(happens("sleep", 3)) << "somebody waits";
  one.leave();
  ASSERT_TRUE(sleep());
  ASSERT_TRUE(happens("sleep", 4)) << "somebody has waited";
  ASSERT_TRUE(sleep());
  ASSERT_TRUE(happens("end"));
  EXPECT_FALSE(one.is_live());
  EXPECT_EQ(count("sleep"), 4);
  one.enter();
  EXPECT_TRUE(happens("begin", 2));
  one.stop();
  EXPECT_TRUE(polling.empty()) << "nobody needed it";
}

}  // namespace
}  // namespace rowlock
