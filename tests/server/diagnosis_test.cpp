#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

class diagnosis_of_a_server : public on_each_server_by_proxy {};
ROWLOCK_SUITE_ON_EACH_SERVER(diagnosis_of_a_server);

TEST_P(diagnosis_of_a_server, that_is_out_of_reach_finds_that_and_nothing_else) {
  auto locks = connect_through_proxy();
  EXPECT_EQ(locks.diagnose().at(0).condition, condition::ok);
  proxy().refuse(true);
  proxy().cut();
  const auto found = locks.diagnose();
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].subject, "connection");
  EXPECT_EQ(found[0].condition, condition::failed);
  EXPECT_NE(found[0].sentence, "");
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i].condition, condition::unknown) << found[i].subject;
  proxy().refuse(false);
  EXPECT_EQ(locks.diagnose().at(0).condition, condition::ok);
}

TEST_P(diagnosis_of_a_server, that_is_silent_ends_in_time) {
  auto locks = connect_through_proxy();
  proxy().black_hole(true);
  const auto began = std::chrono::steady_clock::now();
  const auto found = locks.diagnose();
  EXPECT_LT(std::chrono::steady_clock::now() - began, short_call + 5s);
  EXPECT_EQ(found.at(0).condition, condition::failed);
  EXPECT_EQ(found.at(1).condition, condition::unknown);
}

}  // namespace
}  // namespace rowlock::test
