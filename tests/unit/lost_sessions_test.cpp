#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <vector>

#include "core/error_detail.hpp"
#include "driver/server_session.hpp"

namespace rowlock::test {
namespace {

using several = std::vector<int>;

/// Asked to end 1, 2 and 3, where 2 fails so: which ones are tried, then and the next time.
void expect_tried(const error& of_two, const several& first, const several& next) {
  driver::lost_sessions<int> all;
  for (const int each : {1, 2, 3}) all.add(each);
  several tried;
  const auto end = [&](int id) {
    tried.push_back(id);
    if (id == 2) throw error{of_two};
  };
  if (of_two.connection_is_unusable())
    EXPECT_THROW(all.end_all(end), error);
  else
    EXPECT_NO_THROW(all.end_all(end)) << of_two.what();
  EXPECT_EQ(tried, first) << of_two.what();
  tried.clear();
  all.end_all([&](int id) { tried.push_back(id); });
  EXPECT_EQ(tried, next) << of_two.what();
}

TEST(lost_sessions, are_forgotten_only_where_they_may_not_be_ended) {
  expect_tried({errc::permission_denied, "not by this role"}, {1, 2, 3}, {});
  expect_tried({errc::call_timed_out, "no time was left"}, {1, 2, 3}, {2});
  expect_tried({errc::cancelled, "stopped"}, {1, 2, 3}, {2});
  expect_tried(detail::error_access::make(errc::connection_failed, "broken", {.connection_unusable = true}), {1, 2},
               {2, 3});
}

}  // namespace
}  // namespace rowlock::test
