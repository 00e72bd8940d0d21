#include <gtest/gtest.h>

#include <chrono>

#include "base/boot_clock.hpp"
#include "engine/gateway/gathering.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::gathering;

struct gathering_test : testing::Test {
  void requests_take(duration time) {
    for (int i = 0; i < 100; ++i) next.ended(time);
  }
  // `prompt` callers of each eight come back at once.
  bool is_for(int prompt) {
    for (int i = 0; i < 1000; ++i) next.came(i % 8 < prompt ? 10us : 1s);
    return next.callers_are_prompt();
  }

  const base::instant now = base::now();
  gathering next;
};

TEST_F(gathering_test, lasts_half_as_long_as_a_request_unless_all_are_there) {
  requests_take(2ms);
  next.begin(8, now);
  EXPECT_TRUE(next.is_on(3, now));
  EXPECT_TRUE(next.is_on(7, now + 900us));
  EXPECT_FALSE(next.is_on(7, now + 1ms));
  EXPECT_FALSE(next.is_on(8, now));
  next.end();
  EXPECT_FALSE(next.is_on(3, now));
}

TEST_F(gathering_test, lasts_five_milliseconds_at_most) {
  requests_take(10s);
  next.begin(8, now);
  EXPECT_TRUE(next.is_on(0, now + 4999us));
  EXPECT_FALSE(next.is_on(0, now + 5ms));
}

TEST_F(gathering_test, is_none_where_requests_take_no_longer_than_waking_a_thread) {
  requests_take(90us);
  next.begin(8, now);
  EXPECT_FALSE(next.is_on(0, now));
}

TEST_F(gathering_test, is_for_callers_most_of_whom_come_back_within_half_a_request) {
  EXPECT_FALSE(is_for(8)) << "nothing has ended yet";
  requests_take(1ms);
  EXPECT_FALSE(is_for(6));
  EXPECT_TRUE(is_for(8));
  EXPECT_FALSE(is_for(6)) << "any more";
}

}  // namespace
}  // namespace rowlock
