#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/boot_clock.hpp"
#include "runtime/attendant.hpp"
#include "runtime/pool.hpp"
#include "testkit/eventually.hpp"

// When the transactions end that hold locks, with a session that is the test's own.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using runtime::acquisition_ptr;

class fake_session : public driver::session {
 public:
  explicit fake_session(std::atomic<int>& ended) : ended_{ended} {}
  ~fake_session() override { ++ended_; }
  void exclusively(const std::function<void()>& body, const driver::limits& /*until*/) override { body(); }

 private:
  std::vector<driver::row> do_run(const dialect::step& /*what*/, std::span<const driver::request> /*batch*/,
                                  const driver::limits& /*until*/) override {
    return {};
  }
  void do_script(const std::string& /*sql*/) override {}
  std::int64_t do_change_count(const driver::limits& /*until*/) override { return 0; }

  std::atomic<int>& ended_;
};

/// A pool of the sessions of one lock, which tells how many have ended.
struct place {
  std::atomic<int> ended{0};
  runtime::pool sessions{[this](const driver::limits&) { return std::make_unique<fake_session>(ended); }, "", {1}, 1h};

  acquisition_ptr hold(const std::string& name, core::instant over) {
    auto a = std::make_shared<runtime::acquisition>(nullptr, name, holder::unique(), "id of " + name,
                                                    lock_options{.strategy = strategy::for_update}, 10s,
                                                    std::make_unique<runtime::held_transaction>(sessions.lend({})));
    a->set_first_left(over - 10s, 10s, over - 10s);
    a->set_renewal_due(core::instant::max());
    return a;
  }
};

// Until then its holder may be at work: it has the margin to stop.
TEST(attendant, ends_what_was_lost_by_time_when_the_server_would_and_not_before) {
  place early;
  place late;
  const auto not_over = early.hold("a", driver::now() + 1h);
  const auto over = late.hold("b", driver::now());
  for (const auto& a : {not_over, over}) ASSERT_TRUE(a->lose(loss_reason::unreachable));
  runtime::attendant attendant{{.beat = [](driver::session&, const driver::limits&) {},
                                .lost = [](const acquisition_ptr&, loss_reason) {},
                                .was_cut = [](const std::stop_token&) {},
                                .renewed = [](const runtime::acquisition&) {},
                                .failed = [](const error&) {}}};
  for (const auto& a : {not_over, over}) attendant.attend(a);  // it looks at them in that order
  attendant.start();
  ASSERT_TRUE(test::eventually([&] { return late.ended == 1; }));
  EXPECT_EQ(early.ended, 0);
  attendant.stop();
}

}  // namespace
}  // namespace rowlock
