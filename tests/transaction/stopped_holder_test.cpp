#include <exception>

#include "process/roles.hpp"
#include "testkit/child_process.hpp"
#include "transaction/transaction_test.hpp"

// A holder in a process of its own that is stopped (SIGSTOP) at the worst moments.

namespace rowlock::test {
namespace {

constexpr auto lease = 1500ms;

/// From the holder to another thread of its client, while it is open.
held_lock hand_over(client& locks, held_lock held, const lock_options& options) {
  background next{[&](std::stop_token stop) { return locks.acquire("job", options, std::move(stop)); }};
  if (!eventually([&] { return locks.stats().waiting > 0; })) return {};
  static_cast<void>(next.is_done_within(a_moment));
  held.release();
  auto out = next.get();
  return locks.stats().handovers == 1 ? std::move(out) : held_lock{};
}

/// holder URL ISOLATION LEASE: does what it is told, and says what became of it.
int hold(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.handover_limit = 1min, .observer = silent()});
  const auto tx = open_caller(arguments.at(0), arguments.at(1));
  const std::chrono::milliseconds length{std::stoll(arguments.at(2))};
  held_lock held;
  for (;;) {
    const auto order = hear();
    try {
      if (order == "acquire") {
        held = locks.acquire("job", {.lease = length});
        say(std::to_string(held.token().value()));
        continue;
      }
      if (order == "hand over") {
        held = hand_over(locks, std::move(held), {.lease = length});
        say(std::to_string(held.token().value()));
        continue;
      }
      if (order == "write") {
        tx->begin();
        tx->statement("INSERT INTO written (token) VALUES (" + std::to_string(held.token().value()) + ")");
      } else if (order == "confirm") {
        tx->confirm(held);
      } else if (order == "commit") {
        tx->commit();
      } else if (order == "rollback") {
        tx->rollback();
      } else {
        return order == "end" ? 0 : 1;
      }
      say("done");
    } catch (const error& e) {
      say(e.code().message());
    } catch (const std::exception& e) {
      say(std::string{"the driver: "} + e.what());
    }
  }
}

const role_registration holder_role{"holder", hold};

class stopped_holder : public transaction_test {
 protected:
  stopped_holder() {
    tx().statement("CREATE TABLE written (token BIGINT PRIMARY KEY)");
    make_rows({"job"});
    holder_.emplace("holder", std::vector<std::string>{db().url(), std::string{GetParam().isolation},
                                                       std::to_string(lease.count())});
  }

  child_process& holder() { return *holder_; }
  std::string ask(std::string_view order) {
    holder_->send(order);
    return holder_->read_line();
  }
  /// Of the one that is stopped: what it has committed.
  std::int64_t writes() { return witness_->number("SELECT count(*) FROM written"); }

  /// The holder writes, and confirms its lock.
  void write_and_confirm() {
    EXPECT_EQ(ask("write"), "done");
    EXPECT_EQ(ask("confirm"), "done");
  }
  /// The next holder, when there can be one; nullopt: nobody can have it in several leases.
  std::optional<held_lock> take_over(std::chrono::milliseconds within) {
    std::optional<held_lock> out;
    const auto is_had = [&] {
      try {
        out = others().try_acquire("job");
      } catch (const error& e) {
        if (!e.is_retryable()) throw;  // else somebody else is writing to the file
      }
      return out.has_value();
    };
    static_cast<void>(eventually(within, is_had));
    return out;
  }
  held_lock take_over_from(std::int64_t token) {
    auto next = take_over(patience).value();
    EXPECT_GT(next.token().value(), token);
    return next;
  }
  void expect_end() {
    holder_->send("end");
    EXPECT_EQ(holder_->wait(), 0);
  }

 private:
  std::unique_ptr<caller> witness_ = open_witness();
  std::optional<child_process> holder_;
};
ROWLOCK_SUITE_IN(stopped_holder, usual_places());

TEST_P(stopped_holder, to_whom_the_lock_was_handed_over_cannot_commit) {
  const auto granted = std::stoll(ask("acquire"));
  const auto token = std::stoll(ask("hand over"));
  EXPECT_GT(token, granted);
  holder().pause();
  auto next = take_over_from(token);
  holder().resume();
  EXPECT_EQ(ask("write"), "done");
  EXPECT_EQ(ask("confirm"), make_error_code(errc::lock_lost).message());
  EXPECT_EQ(ask("rollback"), "done");
  EXPECT_EQ(writes(), 0) << "0 stale writes";
  EXPECT_NO_THROW(next.release());
}

TEST_P(stopped_holder, between_acquiring_and_confirm_cannot_commit) {
  for (int turn = 0; turn < 3; ++turn) {
    const auto before = writes();
    const auto token = std::stoll(ask("acquire"));
    const bool writes_first = turn % 2 == 1 && is_on_server();  // to a file nobody else could write then
    if (writes_first) {
      EXPECT_EQ(ask("write"), "done");
    }
    holder().pause();
    auto next = take_over_from(token);
    holder().resume();
    if (writes_first) {
      EXPECT_NE(ask("confirm"), "done") << "above READ COMMITTED it may be told to begin again";
    } else {
      EXPECT_EQ(ask("write"), "done");
      EXPECT_EQ(ask("confirm"), make_error_code(errc::lock_lost).message());
    }
    EXPECT_EQ(ask("rollback"), "done");
    EXPECT_EQ(writes(), before) << "0 stale writes";
    EXPECT_NO_THROW(next.release());
  }
  expect_end();
}

TEST_P(stopped_holder, between_confirm_and_commit_keeps_the_lock_and_commits) {
  for (int turn = 0; turn < 2; ++turn) {
    const auto before = writes();
    const auto token = std::stoll(ask("acquire"));
    write_and_confirm();
    holder().pause();
    EXPECT_FALSE(take_over(3 * lease).has_value()) << "although the lease is over";
    EXPECT_EQ(writes(), before);
    holder().resume();
    EXPECT_EQ(ask("commit"), "done");
    const auto next = take_over_from(token);
    EXPECT_EQ(writes(), before + 1) << "what was confirmed is there when the next has the lock";
  }
  expect_end();
}

TEST_P(stopped_holder, between_confirm_and_commit_that_is_killed_leaves_no_write) {
  const auto token = std::stoll(ask("acquire"));
  write_and_confirm();
  holder().pause();
  EXPECT_FALSE(take_over(2 * lease).has_value());
  holder().kill();
  const auto next = take_over_from(token);
  EXPECT_EQ(writes(), 0);
}

}  // namespace
}  // namespace rowlock::test
