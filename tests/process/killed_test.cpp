#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "process/roles.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/slowness.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

duration milliseconds(const std::string& text) { return std::chrono::milliseconds{std::stoll(text)}; }

/// holder URL NAME LEASE: takes the lock, says its token, then does as it is told.
int hold(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
  auto held = locks.acquire(arguments.at(1), {.lease = milliseconds(arguments.at(2))});
  say(std::to_string(held.token().value()));
  for (;;) {
    const auto order = hear();
    if (order == "lost?") {
      static_cast<void>(eventually([&] { return held.lost().stop_requested(); }));
      say(to_string(held.why_lost()));
    } else if (order == "release") {
      const auto e = error_of([&] { held.release(); });
      say(e ? e->code().message() : "released");
    } else if (order == "try again") {
      say(locks.try_acquire(arguments.at(1)).has_value() ? "granted" : "busy");
    } else {
      return order == "end" ? 0 : 1;
    }
  }
}

const role_registration holder_role{"holder", hold};

/// reader URL NAME LEASE: shares the name until it is killed.
int read(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
  const auto held = locks.acquire_shared(arguments.at(1), {.lease = milliseconds(arguments.at(2))});
  say(std::to_string(held.token().value()));
  return hear() == "end" ? 0 : 1;
}

const role_registration reader_role{"reader", read};

/// writer URL NAME: waits for the name until it is killed.
int wait_to_write(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
  const auto held = locks.acquire(arguments.at(1));
  return 0;
}

const role_registration writer_role{"writer", wait_to_write};

class killed : public on_each_database {
 protected:
  killed() { locks_.migrate(); }

  bool has_ticket(const std::string& name, std::int64_t ticket) {
    const auto all = locks_.waiters(name);
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.ticket == ticket; });
  }
  /// A writer that waits for the end of a share is killed, and then the share is released. Whether `share`, which
  /// shares the name, got it while the ticket that the writer has left was alive.
  template <class Share>
  bool passes_dead_writer(const std::string& name, Share share) {
    auto other = locks_.acquire_shared(name);
    child_process writer{"writer", {db().url(), name}};
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

  client locks_ = client::connect(db().url(), {.observer = silent()});
};
ROWLOCK_SUITE_ON_EACH_DATABASE(killed);

TEST_P(killed, leaves_the_lock_to_the_next_when_the_lease_has_ended) {
  child_process holder{"holder", {db().url(), "job", "1500"}};
  const auto token = std::stoll(holder.read_line());
  EXPECT_FALSE(locks_.try_acquire("job").has_value());
  holder.kill();
  const auto end = end_of_lease();
  const auto next = locks_.acquire("job");
  EXPECT_GE(next.token().value(), end) << "never before the lease has ended by the clock of the database";
  EXPECT_LT(next.token().value(), end + std::chrono::microseconds{patience / 3}.count());
  EXPECT_GT(next.token().value(), token);
}

TEST_P(killed, in_a_row_of_many_lets_each_next_have_it) {
  std::int64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    child_process holder{"holder", {db().url(), "job", "300"}};
    const auto token = std::stoll(holder.read_line());
    EXPECT_GT(token, last);
    last = token;
    holder.kill();
  }
  EXPECT_GT(locks_.acquire("job").token().value(), last);
}

TEST_P(killed, in_the_middle_of_work_leaves_a_database_that_works) {
  for (int i = 0; i < 5; ++i) {
    child_process holder{"holder", {db().url(), "other", "100"}};
    static_cast<void>(holder.read_line());
    holder.kill();
    EXPECT_TRUE(locks_.try_acquire("job").has_value());
    EXPECT_NO_THROW(locks_.check());
  }
}

TEST_P(killed, a_paused_holder_learns_of_its_loss_and_harms_nobody) {
  child_process holder{"holder", {db().url(), "job", "1000"}};
  const auto token = std::stoll(holder.read_line());
  holder.pause();
  const auto end = end_of_lease();
  const auto next = locks_.acquire("job");
  EXPECT_GE(next.token().value(), end);
  EXPECT_GT(next.token().value(), token);
  const auto row = db().row("job").value();

  holder.resume();
  holder.send("lost?");
  const auto reason = holder.read_line();
  EXPECT_TRUE(reason == "expired" || reason == "taken_over") << reason;
  holder.send("release");
  EXPECT_EQ(holder.read_line(), make_error_code(errc::lock_lost).message());
  holder.send("try again");
  EXPECT_EQ(holder.read_line(), "busy");
  EXPECT_EQ(db().row("job").value().acquisition, row.acquisition);
  EXPECT_FALSE(next.lost().stop_requested());
  holder.send("end");
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_FALSE(next.lost().stop_requested());
  EXPECT_FALSE(locks_.try_acquire("job").has_value());
}

TEST_P(killed, a_holder_paused_for_less_than_its_lease_keeps_it) {
  child_process holder{"holder", {db().url(), "job", "20000"}};
  static_cast<void>(holder.read_line());
  holder.pause();
  EXPECT_FALSE(locks_.try_acquire_for("job", 500ms).has_value());
  holder.resume();
  holder.send("release");
  EXPECT_EQ(holder.read_line(), "released");
  EXPECT_TRUE(locks_.try_acquire("job").has_value());
  holder.send("end");
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
    child_process reader{"reader", {db().url(), "job", "5000"}};
    reader.read_line();
    reader.kill();
    const auto ends = std::chrono::steady_clock::now() + lease;
    auto granted = std::async(std::launch::async, wait);
    EXPECT_TRUE(eventually([&] { return db().tickets() > 0; }));
    other.release();
    granted.get();
    EXPECT_LT(std::chrono::steady_clock::now(), ends + 1s * slowness);
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
  child_process reader{"reader", {db().url(), "job", "500"}};
  reader.read_line();
  reader.kill();
  other.release();
  EXPECT_TRUE(eventually([&] { return !locks_.find("job") && locks_.list().empty(); }));
  EXPECT_EQ(locks_.database_stats().held, 0U);
  EXPECT_FALSE(election(locks_, "job").leader());
}

}  // namespace
}  // namespace rowlock::test
