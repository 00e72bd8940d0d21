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

// Names are told.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using test::eventually;

constexpr auto ring = "";  // what a listener hears then

/// What is said on one connection.
class wire {
 public:
  void say(const std::string& name) {
    const std::lock_guard lock{mutex_};
    said_.push_back(name);
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    changed_.notify_all();
  }
  std::vector<std::string> hear(base::instant until, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    base::wait_until(changed_, lock, until, stop, [&] { return has_ended_ || !said_.empty(); });
    if (has_ended_) throw error{errc::connection_failed, "the server has gone"};
    return std::exchange(said_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::string> said_;
  bool has_ended_ = false;
};

class fake_listener final : public driver::listener {
 public:
  explicit fake_listener(std::shared_ptr<wire> on) : wire_{std::move(on)} {}
  std::vector<std::string> wait(base::instant until, const std::stop_token& stop) override {
    return wire_->hear(until, stop);
  }

 private:
  std::shared_ptr<wire> wire_;
};

/// A server on which NOTIFY works, unless it is told otherwise.
struct listening_test : test::played_listening<wire> {
  listening_test() {
    on_ring = [this] { line()->say(ring); };
  }
  std::shared_ptr<wire> line() { return last(); }
};

class fake_source : public test::played_source<wire, fake_listener> {
 public:
  explicit fake_source(listening_test& to) : fake_source{to, to.longest_call} {}
  fake_source(listening_test& to, duration longest_call)
      : played_source{driver::foreign_news::notified, to, longest_call} {}
  fake_source(const fake_source&) = delete;
  fake_source& operator=(const fake_source&) = delete;
  ~fake_source() override { stop(); }

 protected:
  void ring(const driver::limits& until) override {
    to().note("ring");
    played_source::ring(until);
  }
};

TEST_F(listening_test, is_live_when_it_has_heard_its_own_ring) {
  fake_source source{*this};
  EXPECT_FALSE(source.is_live());
  source.enter();
  ASSERT_TRUE(is_begun(1));
  EXPECT_TRUE(source.is_live());
  source.stop();
  EXPECT_EQ(happened, (std::vector<std::string>{"open", "ring", "begin"}));
}

TEST_F(listening_test, hints_what_it_hears) {
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(is_begun(1));
  line()->say("orders/42");
  EXPECT_TRUE(eventually([&] { return count("heard orders/42") == 1; }));
  line()->say("a");
  line()->say(ring);  // of somebody else's check
  line()->say("b");
  EXPECT_TRUE(eventually([&] { return count("heard a") == 1 && count("heard b") == 1; }));
  EXPECT_TRUE(source.is_live());
  EXPECT_EQ(count("heard "), 0) << "a ring names nothing";
}

TEST_F(listening_test, names_that_come_before_the_ring_are_hinted_and_prove_nothing) {
  on_ring = [this] { line()->say("early"); };
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("heard early") == 1; }));
  EXPECT_FALSE(source.is_live());
  EXPECT_EQ(count("begin"), 0);
  line()->say(ring);
  EXPECT_TRUE(is_begun(1));
  EXPECT_TRUE(source.is_live());
}

TEST_F(listening_test, a_ring_that_is_not_heard_is_reported_once_and_it_is_not_live) {
  on_ring = [] {};
  longest_call = 1ms;
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("warn") == 1; }));
  EXPECT_FALSE(source.is_live());
  EXPECT_EQ(count("end"), 1) << "those who wait must ask";
  source.stop();
  EXPECT_EQ(happened, (std::vector<std::string>{"open", "ring", "end", "warn"})) << "it is not tried again for long";
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("PgBouncer"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("client_options::transaction_pooling"), std::string::npos) << warnings[0];
}

TEST_F(listening_test, what_is_not_supported_is_reported) {
  on_open = [] { throw error{errc::unsupported, "there is no LISTEN here"}; };
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("warn") == 1; }));
  source.stop();
  EXPECT_NE(warnings.at(0).find("there is no LISTEN here"), std::string::npos) << warnings.at(0);
  EXPECT_EQ(warnings.at(0).find("PgBouncer"), std::string::npos) << "nothing shows that a pooler is the cause";
  EXPECT_EQ(warnings.at(0).find("pooling"), std::string::npos) << warnings.at(0);
}

TEST_F(listening_test, a_connection_that_ends_is_opened_again_without_a_word) {
  fake_source source{*this};
  source.enter();
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(is_begun(times)) << "nobody knows what was told in between";
    EXPECT_TRUE(source.is_live());
    EXPECT_EQ(count("end"), times - 1);
    line()->end();
  }
  ASSERT_TRUE(is_begun(4));
  EXPECT_EQ(count("warn"), 0);
  line()->say("orders/42");
  EXPECT_TRUE(eventually([&] { return count("heard orders/42") == 1; }));
}

TEST_F(listening_test, a_server_that_is_away_for_a_moment_is_waited_for) {
  int times = 0;
  on_open = [&] {
    if (++times <= 2) throw error{errc::connection_failed, "no server"};
  };
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(is_begun(1));
  source.stop();
  EXPECT_EQ(happened, (std::vector<std::string>{"open", "end", "open", "end", "open", "ring", "begin"}));
  EXPECT_EQ(polling, std::vector<std::error_code>{errc::connection_failed}) << "once until it is live";
}

// It takes the time after which that is worth a word.
TEST_F(listening_test, a_server_that_is_away_for_longer_is_not_said_to_know_no_LISTEN) {
  on_open = [] { throw error{errc::connection_failed, "no server"}; };
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("warn") == 1; }));
  on_open = [] {};
  ASSERT_TRUE(is_begun(1));
  source.stop();
  EXPECT_EQ(warnings.at(0),
            "the connection that listens for released locks is lost, so waiting clients poll the server until it is "
            "restored: no server");
}

TEST_F(listening_test, those_who_wait_are_told_each_time_that_it_is_not_live_any_more) {
  fake_source source{*this};
  source.enter();
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(is_begun(times));
    line()->end();
  }
  ASSERT_TRUE(is_begun(4));
  source.stop();
  EXPECT_EQ(polling, std::vector<std::error_code>(3, errc::connection_failed));
}

TEST_F(listening_test, nobody_is_told_that_it_is_not_live_while_nobody_waits) {
  fake_source source{*this};
  source.enter();
  ASSERT_TRUE(is_begun(1));
  source.leave();
  line()->end();
  ASSERT_TRUE(eventually([&] { return count("end") == 1; }));
  source.enter();
  ASSERT_TRUE(is_begun(2));
  source.stop();
  EXPECT_TRUE(polling.empty());
}

TEST_F(listening_test, what_stop_cuts_short_is_not_reported) {
  struct slow_to_open final : fake_source {
    using fake_source::fake_source;
    slow_to_open(const slow_to_open&) = delete;
    slow_to_open& operator=(const slow_to_open&) = delete;
    ~slow_to_open() override { stop(); }
    std::unique_ptr<driver::listener> open(const driver::limits& until) override {
      to().note("open");
      static_cast<void>(eventually([&] { return until.stop.stop_requested(); }));
      throw error{errc::cancelled, "cancelled"};
    }
  };
  slow_to_open source{*this};
  source.enter();
  ASSERT_TRUE(eventually([&] { return count("open") == 1; }));
  source.stop();
  EXPECT_EQ(happened, std::vector<std::string>{"open"});
}

TEST_F(listening_test, stop_ends_it_wherever_it_is) {
  for (const bool hears : {true, false}) {
    if (!hears) on_ring = [] {};
    fake_source source{*this, 1h};
    const auto rings = count("ring");
    source.enter();
    ASSERT_TRUE(eventually([&] { return count("ring") > rings; }));
    source.stop();  // returns
  }
}

}  // namespace
}  // namespace rowlock
