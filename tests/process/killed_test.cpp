#include <algorithm>
#include <future>

#include "process/claimant.hpp"
#include "process/process_test.hpp"
#include "support/late_machine.hpp"

namespace rowlock::test {
namespace {

class killed : public process_test {
 protected:
  bool has_ticket(const std::string& name, std::int64_t ticket) {
    const auto all = locks_.waiters(name);
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.ticket == ticket; });
  }
  /// A writer that waits for the end of a share is killed, and then the share is released. Whether `share`, which
  /// shares the name, got it while the ticket that the writer has left was alive.
  template <class Share>
  bool passes_dead_writer(const std::string& name, Share share) {
    auto other = locks_.acquire_shared(name);
    claimant writer{db().url()};
    writer.order("claim " + name);
    std::int64_t left_behind = 0;
    EXPECT_TRUE(eventually([&] {
      for (const auto& each : locks_.waiters(name))
        if (each.age > 200ms) left_behind = each.ticket;
      return left_behind != 0;
    }));
    writer.kill();
    other.release();
    const std::optional<held_lock> held = share(name);
    return held && has_ticket(name, left_behind);
  }
  /// A machine that is too slow for it has other tries.
  template <class Share>
  bool passes_a_dead_writer(const std::string& how, Share share) {
    for (int tries = 0; tries < 4; ++tries)
      if (passes_dead_writer(how + std::to_string(tries), share)) return true;
    return false;
  }

  std::int64_t end_of_lease() { return db().row("job").value().expires_at.value(); }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(killed);

TEST_P(killed, leaves_a_database_that_works_and_the_lock_to_the_next_when_the_lease_has_ended) {
  std::int64_t last = 0;
  std::int64_t end = 0;
  for (const auto lease : {300ms, 300ms, 300ms, 1500ms}) {
    claimant holder{db().url()};
    const auto token = holder.claim("job", lease);
    EXPECT_GE(token, end) << "never before the lease has ended by the clock of the database";
    EXPECT_GT(token, last);
    EXPECT_TRUE(lease < 1s || !locks_.try_acquire("job").has_value());
    holder.kill();
    EXPECT_TRUE(locks_.try_acquire("another").has_value());
    EXPECT_NO_THROW(locks_.check());
    last = token;
    end = end_of_lease();
  }
  const auto next = locks_.acquire("job").token().value();
  EXPECT_GE(next, end);
  EXPECT_LT(next, end + std::chrono::microseconds{patience / 3}.count());
  EXPECT_GT(next, last);
}

TEST_P(killed, a_paused_holder_learns_of_its_loss_and_harms_nobody) {
  claimant holder{db().url()};
  const auto token = holder.claim("job", 2000ms);
  holder.pause();
  const auto end = end_of_lease();
  const auto next = locks_.acquire("job");
  EXPECT_GE(next.token().value(), end);
  EXPECT_GT(next.token().value(), token);
  const auto row = db().row("job").value();

  holder.resume();
  const auto reason = holder.ask("lost?");
  EXPECT_TRUE(reason == "expired" || reason == "taken_over") << reason;
  EXPECT_EQ(holder.ask("release"), make_error_code(errc::lock_lost).message());
  EXPECT_EQ(holder.ask("try job"), "busy");
  EXPECT_EQ(db().row("job").value().acquisition, row.acquisition);
  EXPECT_FALSE(next.lost().stop_requested());
  holder.order("end");
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_FALSE(next.lost().stop_requested());
  EXPECT_FALSE(locks_.try_acquire("job").has_value());
}

TEST_P(killed, a_holder_paused_for_less_than_its_lease_keeps_it) {
  claimant holder{db().url()};
  holder.claim("job", 20000ms);
  holder.pause();
  EXPECT_FALSE(locks_.try_acquire_for("job", 500ms).has_value());
  holder.resume();
  EXPECT_EQ(holder.ask("release"), "released");
  EXPECT_TRUE(locks_.try_acquire("job").has_value());
  holder.order("end");
  EXPECT_EQ(holder.wait(), 0);
}

// The row of the name lasts as long as the other share would have. A writer waits, a semaphore's holder, and sets.
TEST_P(killed, reader_is_waited_for_no_longer_than_its_lease) {
  constexpr auto lease = 5s;
  const std::vector<lock_name> both{"job", "other"};
  const std::function<void()> ways[] = {[&] { locks_.acquire("job").release(); },
                                        [&] {
                                          semaphore{locks_, "job", 1}.acquire().release();
                                        },
                                        [&] { locks_.acquire_all(both).release(); },
                                        [&] { locks_.acquire_all(both, {.fairness = fairness::fifo}).release(); }};
  for (const auto& wait : ways) {
    SCOPED_TRACE(&wait - ways);
    auto other = locks_.acquire_shared("job", {.lease = 10min});
    claimant reader{db().url()};
    reader.share("job", 5000ms);
    reader.kill();
    const auto ends = std::chrono::steady_clock::now() + lease;
    const late_machine machine{[&] { static_cast<void>(db().now()); }};
    auto granted = std::async(std::launch::async, wait);
    EXPECT_TRUE(eventually([&] { return db().tickets() > 0; }));
    other.release();
    granted.get();
    EXPECT_LT(std::chrono::steady_clock::now() - ends, 1s * slowness + 10 * machine.by());
  }
}

TEST_P(killed, writer_does_not_keep_a_free_name_from_those_who_share_it) {
  EXPECT_TRUE(
      passes_a_dead_writer("reader", [&](const auto& name) { return locks_.try_acquire_shared_for(name, patience); }));
  EXPECT_TRUE(passes_a_dead_writer("permit", [&](const auto& name) {
    return semaphore{locks_, name, 2}.try_acquire_for(patience);
  }));
  EXPECT_TRUE(passes_a_dead_writer("tries", [&](const auto& name) {
    std::optional<held_lock> held;
    EXPECT_TRUE(eventually([&] { return (held = locks_.try_acquire_shared(name)).has_value(); }));
    return held;
  }));
}

TEST_P(killed, readers_are_not_shown_as_holders_when_their_leases_have_ended) {
  auto other = locks_.acquire_shared("job", {.lease = 10min});
  claimant reader{db().url()};
  reader.share("job", 500ms);
  reader.kill();
  other.release();
  EXPECT_TRUE(eventually([&] { return !locks_.find("job") && locks_.list().empty(); }));
  EXPECT_EQ(locks_.database_stats().held, 0U);
  EXPECT_FALSE(election(locks_, "job").leader());
}

}  // namespace
}  // namespace rowlock::test
