#include "engine/lease/transaction_heartbeat.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/boot_clock.hpp"
#include "testkit/eventually.hpp"
#include "unit/fake_database.hpp"

// When the transactions end that hold locks, with a database that the test plays.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::lease_ptr;

struct no_listener final : engine::lease_listener {
  void renewed(const engine::lease_state& /*a*/) noexcept override {}
  void renewal_failed(const engine::lease_state& /*a*/, const error& /*why*/) noexcept override {}
  void gone(const lease_ptr& /*a*/, loss_reason /*why*/) override {}
};

lease_ptr hold(test::fake_database& in, const std::string& name, base::instant over) {
  auto a = std::make_shared<engine::lease_state>(
      name, std::nullopt, core::acquisition_id{"id of " + name}, lock_options{.strategy = strategy::for_update}, 10s,
      std::make_unique<engine::held_transaction>(in.gateway().lend_transaction({}), false));
  a->set_first_left(over - 10s, 10s, over - 10s);
  a->set_renewal_due(base::instant::max());
  return a;
}

// Until then its holder may be at work: it has the margin to stop.
TEST(transaction_heartbeat, ends_what_was_lost_by_time_when_the_server_would_and_not_before) {
  test::fake_database early;
  test::fake_database late;
  const auto not_over = hold(early, "a", base::now() + 1h);
  const auto over = hold(late, "b", base::now());
  for (const auto& a : {not_over, over}) ASSERT_TRUE(a->lose(loss_reason::unreachable));
  no_listener nobody;
  test::fake_database any;
  engine::transaction_heartbeat heartbeat{any.gateway(), nobody};
  for (const auto& a : {not_over, over}) heartbeat.attend(a);  // it looks at them in that order
  heartbeat.start();
  ASSERT_TRUE(test::eventually([&] { return late.ended_sessions() == 1; }));
  EXPECT_EQ(early.ended_sessions(), 0);
  heartbeat.stop();
}

}  // namespace
}  // namespace rowlock
