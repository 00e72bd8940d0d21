#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <vector>

#include "core/error_detail.hpp"
#include "driver/server_session.hpp"

namespace rowlock::test {
namespace {

/// Asked to end 1, 2 and 3, where 2 fails so: which ones are tried, then and the next time.
class lost_sessions : public testing::Test {
 protected:
  lost_sessions() {
    for (const int each : {1, 2, 3}) all_.add(each);
  }

  bool throws(const error& of_two) try {
    all_.end_all([&](int id) {
      tried_.push_back(id);
      if (id == 2) throw error{of_two};
    });
    return false;
  } catch (const error&) {
    return true;
  }
  std::vector<int> tried() const { return tried_; }
  std::vector<int> left() {
    std::vector<int> out;
    all_.end_all([&](int id) { out.push_back(id); });
    return out;
  }

 private:
  driver::lost_sessions<int> all_;
  std::vector<int> tried_;
};

using several = std::vector<int>;

TEST_F(lost_sessions, that_may_not_be_ended_are_forgotten) {
  EXPECT_FALSE(throws({errc::permission_denied, "not by this role"}));
  EXPECT_EQ(tried(), (several{1, 2, 3}));
  EXPECT_EQ(left(), several{});
}

TEST_F(lost_sessions, for_which_there_was_no_time_are_kept) {
  EXPECT_FALSE(throws({errc::call_timed_out, "no time was left"}));
  EXPECT_EQ(tried(), (several{1, 2, 3}));
  EXPECT_EQ(left(), several{2});
}

TEST_F(lost_sessions, in_the_middle_of_which_somebody_stopped_are_kept) {
  EXPECT_FALSE(throws({errc::cancelled, "stopped"}));
  EXPECT_EQ(left(), several{2});
}

TEST_F(lost_sessions, are_kept_from_the_one_on_whose_account_the_connection_broke) {
  EXPECT_TRUE(throws(detail::error_access::make(errc::connection_failed, "broken", {.connection_unusable = true})));
  EXPECT_EQ(tried(), (several{1, 2}));
  EXPECT_EQ(left(), (several{2, 3}));
}

}  // namespace
}  // namespace rowlock::test
