#include "engine/queue/wakeup_source.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support/happening.hpp"
#include "testkit/eventually.hpp"

namespace rowlock {
namespace {

using test::eventually;
using test::happening;

constexpr base::instant never = base::instant::max();
constexpr base::instant at_once = base::instant::min();

/// Does what the test says, and begins again without a pause.
class scripted : public engine::wakeup_source {
 public:
  using script = std::function<void(scripted& self, const std::stop_token& stop)>;
  explicit scripted(script what) : what_{std::move(what)} {}
  scripted(const scripted&) = delete;
  scripted& operator=(const scripted&) = delete;
  ~scripted() override { stop(); }

  using wakeup_source::is_wanted;
  using wakeup_source::nudge;
  using wakeup_source::pause;
  using wakeup_source::rest;
  using wakeup_source::set_live;
  using wakeup_source::was_wanted;

  int begun() const { return begun_; }
  /// Of its thread, until it is stopped.
  const std::vector<std::string>& failures() const { return failures_; }
  const std::vector<int>& in_a_row() const { return in_a_row_; }

 private:
  void watch(const std::stop_token& stop) override {
    ++begun_;
    what_(*this, stop);
  }
  void failed(const std::exception& why) noexcept override { failures_.emplace_back(why.what()); }
  duration recovery(int failures) const noexcept override {
    in_a_row_.push_back(failures);
    return {};
  }

  script what_;
  std::atomic<int> begun_{0};
  std::vector<std::string> failures_;
  mutable std::vector<int> in_a_row_;
};

void wait_for_the_end(scripted& self, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    self.rest(stop);
    self.pause(never, stop);
  }
}

TEST(wakeup_source, starts_with_the_first_who_waits) {
  happening began;
  scripted source{[&](scripted& self, const std::stop_token& stop) {
    EXPECT_TRUE(self.is_wanted());
    self.set_live(true);
    began.happens();
    wait_for_the_end(self, stop);
  }};
  EXPECT_EQ(source.begun(), 0);
  EXPECT_FALSE(source.is_live());
  source.enter();
  ASSERT_TRUE(began.within());
  EXPECT_TRUE(source.is_live());
  source.enter();
  source.leave();
  source.leave();
  source.enter();
  source.stop();
  EXPECT_EQ(source.begun(), 1) << "there is one thread for all";
}

TEST(wakeup_source, remembers_once_that_somebody_has_waited) {
  scripted source{wait_for_the_end};
  EXPECT_FALSE(source.was_wanted());
  source.enter();
  EXPECT_TRUE(source.was_wanted());
  source.leave();
  EXPECT_TRUE(source.was_wanted());
  EXPECT_FALSE(source.was_wanted());
  source.enter();
  source.leave();
  EXPECT_TRUE(source.was_wanted());
  EXPECT_FALSE(source.was_wanted());
}

TEST(wakeup_source, one_that_was_stopped_does_not_start) {
  scripted source{[](scripted&, const std::stop_token&) {}};
  source.stop();
  source.enter();
  source.stop();
  EXPECT_EQ(source.begun(), 0);
}

TEST(wakeup_source, what_throws_is_not_live_and_is_begun_again) {
  happening again;
  std::atomic<bool> was_live_again{false};
  scripted source{[&](scripted& self, const std::stop_token& stop) {
    if (self.begun() == 2) was_live_again = self.is_live();
    if (self.begun() <= 2) {
      self.set_live(self.begun() == 1);
      throw std::runtime_error{"failure " + std::to_string(self.begun())};
    }
    again.happens();
    wait_for_the_end(self, stop);
  }};
  source.enter();
  ASSERT_TRUE(again.within());
  EXPECT_FALSE(source.is_live());
  source.stop();
  EXPECT_FALSE(was_live_again);
  EXPECT_EQ(source.failures(), (std::vector<std::string>{"failure 1", "failure 2"}));
}

TEST(wakeup_source, failures_are_counted_from_when_it_was_live_last) {
  happening enough;
  scripted source{[&](scripted& self, const std::stop_token& stop) {
    if (self.begun() == 3) self.set_live(true);
    if (self.begun() <= 4) throw std::runtime_error{"no way"};
    enough.happens();
    wait_for_the_end(self, stop);
  }};
  source.enter();
  ASSERT_TRUE(enough.within());
  source.stop();
  EXPECT_EQ(source.in_a_row(), (std::vector<int>{1, 2, 1, 2}));
}

TEST(wakeup_source, is_not_begun_again_while_nobody_waits) {
  happening began;
  std::atomic<bool> may_fail{false};
  scripted source{[&](scripted& self, const std::stop_token& stop) {
    began.happens();
    if (self.begun() > 1) return wait_for_the_end(self, stop);
    static_cast<void>(eventually([&] { return may_fail.load(); }));
    throw std::runtime_error{"no way"};
  }};
  source.enter();
  ASSERT_TRUE(began.within());
  source.leave();
  may_fail = true;
  source.stop();
  EXPECT_EQ(source.begun(), 1);
  EXPECT_LE(source.failures().size(), 1U);
}

TEST(wakeup_source, a_pause_ends_at_its_time_by_a_nudge_and_when_nobody_waits) {
  happening paused;
  happening nudged;
  happening rested;
  std::atomic<bool> goes_on_at_its_time{false};
  std::atomic<bool> goes_on_when_nudged{false};
  std::atomic<bool> goes_on_unwanted{true};
  std::atomic<bool> has_nobody{false};
  scripted source{[&](scripted& self, const std::stop_token& stop) {
    goes_on_at_its_time = self.pause(at_once, stop);
    paused.happens();
    goes_on_when_nudged = self.pause(never, stop);
    nudged.happens();
    static_cast<void>(eventually([&] { return has_nobody.load(); }));
    goes_on_unwanted = self.pause(at_once, stop);
    self.rest(stop);
    rested.happens();
    wait_for_the_end(self, stop);
  }};
  source.enter();
  ASSERT_TRUE(paused.within());
  EXPECT_TRUE(goes_on_at_its_time);
  source.nudge();
  ASSERT_TRUE(nudged.within());
  EXPECT_TRUE(goes_on_when_nudged);
  source.leave();
  has_nobody = true;
  ASSERT_TRUE(eventually([&] { return !goes_on_unwanted; }));
  source.enter();
  EXPECT_TRUE(rested.within());
  source.stop();
}

TEST(wakeup_source, stop_ends_a_pause_and_a_rest) {
  for (const bool waits : {true, false}) {
    happening began;
    scripted source{[&](scripted& self, const std::stop_token& stop) {
      began.happens();
      wait_for_the_end(self, stop);
    }};
    source.enter();
    ASSERT_TRUE(began.within());
    if (!waits) {
      source.leave();
      source.nudge();
    }
    source.stop();  // returns
  }
}

TEST(subscription, waits_for_all_of_them_as_long_as_it_lives) {
  engine::subscription::sources all;
  for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<scripted>(wait_for_the_end));
  const auto at = [&](std::size_t i) -> scripted& { return static_cast<scripted&>(*all.at(i)); };
  {
    const engine::subscription one{all};
    {
      const engine::subscription another{all};
      EXPECT_TRUE(at(0).is_wanted());
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(at(i).is_wanted());
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(at(i).is_wanted());
}

}  // namespace
}  // namespace rowlock
