#include <cstddef>
#include <memory>
#include <vector>

#include "server/server_test.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"
#include "support/wait_storm.hpp"

namespace rowlock::test {
namespace {

using asynchronous_by_proxy = on_each_server_by_proxy;
ROWLOCK_SUITE_ON_EACH_SERVER(asynchronous_by_proxy);

TEST_P(asynchronous_by_proxy, waits_over_lost_connections_are_each_answered_once) {
  wait_storm storm{seed()};
  auto direct = connect();
  std::vector<std::unique_ptr<client>> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(std::make_unique<client>(connect_through_proxy()));
  const auto number = static_cast<std::size_t>(many(10'000, 600));
  for (std::size_t i = 0; i < number; ++i) {
    storm.begin(*clients[storm.number(clients.size())]);
    if (storm.number(4) == 0) storm.cancel_one();
    if (storm.number(number / 20) == 0) proxy().cut();
  }
  const auto before = storm.granted();
  EXPECT_TRUE(eventually([&] { return storm.granted() > before || storm.are_all_answered(); }))
      << "no wait survived the lost connections";
  clients.pop_back();
  proxy().cut();
  storm.cancel_all();
  EXPECT_TRUE(eventually([&] { return storm.are_all_answered(); })) << storm.unanswered() << " have no answer";
  clients.clear();
  storm.expect_one_answer_each();
  EXPECT_GT(storm.granted(), 0);
  // What could not be withdrawn over a lost connection ends by itself.
  for (std::size_t i = 0; i < wait_storm::names; ++i)
    EXPECT_TRUE(direct.try_acquire_for(wait_storm::name(i), long_lease).has_value());
}

}  // namespace
}  // namespace rowlock::test
