#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/error_detail.hpp"
#include "engine/gateway/pool.hpp"
#include "support/errors.hpp"
#include "testkit/eventually.hpp"

// Who gets a session next, where there are fewer than are wanted.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::pool;
using engine::purpose;
using test::eventually;

class fake_session : public driver::session {
 public:
  explicit fake_session(const std::atomic<bool>& is_dead) : is_dead_{is_dead} {}
  void exclusively(const std::function<void()>& body, const driver::limits& /*until*/) override { body(); }
  bool looks_alive() noexcept override { return !is_dead_; }

 private:
  std::vector<driver::row> do_run(const sheets::step& /*what*/, std::span<const driver::request> /*batch*/,
                                  const driver::limits& /*until*/) override {
    return {};
  }
  void do_script(const std::string& /*sql*/) override {}
  std::int64_t do_change_count(const driver::limits& /*until*/) override { return 0; }

  const std::atomic<bool>& is_dead_;
};

const driver::limits no_limit{.deadline = base::now() + 1h};
driver::limits until_now() { return {.deadline = base::now()}; }

struct pool_test : testing::Test {
  std::atomic<bool> all_are_dead = false;
  std::atomic<int> begun = 0;
  std::atomic<int> opened = 0;
  std::atomic<int> allowed = 1'000;  // by the server
  std::atomic<bool> hangs = false;
  std::atomic<bool> hangs_at_first = false;
  std::atomic<bool> fails_only_first = false;
  std::unique_ptr<pool> all;

  void make(std::size_t most, std::size_t kept = 0) {
    all = std::make_unique<pool>(
        [this](const driver::limits& until) {
          const bool is_first = ++begun == 1;
          eventually([&] { return !(hangs || (hangs_at_first && is_first)) || until.stop.stop_requested(); });
          if (opened >= allowed && (is_first || !fails_only_first))
            throw detail::error_access::make(errc::connection_failed, "too many connections for role",
                                             {.retryable = true, .connection_unusable = true, .sqlstate = "53300"});
          ++opened;
          return std::make_unique<fake_session>(all_are_dead);
        },
        "a server", "connections", pool::size{.most = most, .kept = kept}, 1h);
  }
  /// How many may have been begun by now for one call after the other: at once, after 0.5 s, after 1.5 s, after 3 s, …
  static int most_begun(base::instant since) {
    int out = 1;
    for (auto due = since + 500ms; due <= base::now(); due += 500ms * ++out) {
    }
    return out;
  }
  std::optional<errc> refusal(purpose what_for) const {
    const auto e = test::error_of([&] { (void)all->borrow(until_now(), what_for); });
    return e ? std::optional{static_cast<errc>(e->code().value())} : std::nullopt;
  }

  /// Threads that ask one after the other, and note who has got one.
  std::mutex noting;
  std::vector<std::string> got;  // by who has a session
  std::vector<std::jthread> threads;
  void ask(const std::string& name, purpose what_for) {
    const auto before = all->used().waiting;
    threads.emplace_back([this, name, what_for] {
      const auto loan = all->borrow(no_limit, what_for);
      const std::lock_guard alone{noting};
      got.push_back(name);
    });
    ASSERT_TRUE(eventually([&] { return all->used().waiting == before + 1; }));
  }
};

TEST_F(pool_test, serves_those_who_wait_in_their_order) {
  make(1);
  std::vector<std::string> asked;
  {
    const auto only = all->borrow(no_limit);
    for (int i = 0; i < 10; ++i) ask(asked.emplace_back(std::to_string(i)), purpose::usual);
  }
  threads.clear();
  EXPECT_EQ(got, asked);
  EXPECT_EQ(opened, 1);
}

TEST_F(pool_test, serves_what_keeps_and_ends_locks_first) {
  make(1);
  {
    const auto only = all->borrow(no_limit);
    ask("acquire", purpose::usual);
    ask("release", purpose::releasing);
    ask("acquire another", purpose::usual);
    ask("renew", purpose::renewing);
    ask("release another", purpose::releasing);
  }
  threads.clear();
  EXPECT_EQ(got, (std::vector<std::string>{"renew", "release", "release another", "acquire", "acquire another"}));
}

TEST_F(pool_test, keeps_one_for_what_keeps_and_ends_locks) {
  make(3, 1);
  const auto one = all->borrow(no_limit);
  const auto two = all->borrow(no_limit);
  EXPECT_EQ(refusal(purpose::usual), errc::pool_exhausted);
  {
    const auto kept = all->borrow(no_limit, purpose::releasing);
    EXPECT_EQ(refusal(purpose::renewing), errc::pool_exhausted) << "there are no more than three";
  }
  EXPECT_EQ(refusal(purpose::renewing), std::nullopt);
  EXPECT_EQ(refusal(purpose::usual), errc::pool_exhausted) << "though it is idle";
  EXPECT_EQ(opened, 3);
}

TEST_F(pool_test, what_keeps_locks_may_have_all_of_them) {
  make(2, 1);
  {
    const auto one = all->borrow(no_limit, purpose::releasing);
    const auto two = all->borrow(no_limit, purpose::releasing);
    EXPECT_EQ(refusal(purpose::usual), errc::pool_exhausted);
  }
  EXPECT_EQ(refusal(purpose::usual), std::nullopt);
}

// What is given back in between goes to nobody who has given up.
TEST_F(pool_test, those_who_gave_up_are_passed_over) {
  make(1);
  {
    const auto only = all->borrow(no_limit);
    EXPECT_EQ(refusal(purpose::usual), errc::pool_exhausted);
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_TRUE(test::throws(errc::cancelled,
                             [&] { (void)all->borrow({.deadline = base::now() + 1h, .stop = stopped.get_token()}); }));
    EXPECT_EQ(all->used().waiting, 0U);
  }
  EXPECT_EQ(refusal(purpose::usual), std::nullopt);
}

TEST_F(pool_test, the_dead_are_replaced_and_their_places_given_to_those_who_wait) {
  make(2);
  {
    const auto one = all->borrow(no_limit);
    const auto two = all->borrow(no_limit);
  }
  all_are_dead = true;
  const auto one = all->borrow(no_limit);
  EXPECT_EQ(opened, 3);
  EXPECT_EQ(all->used().open, 1U) << "both were found dead, and one was opened";
  const auto two = all->borrow(no_limit);
  EXPECT_EQ(all->used().open, 2U);
}

// A connection is worth its price to a busy server, though the call that wanted it has left.
TEST_F(pool_test, a_session_goes_to_the_next_call_if_the_first_has_left) {
  make(8);
  hangs = true;
  const auto began = base::now();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(refusal(purpose::usual), errc::connection_failed);
  EXPECT_TRUE(eventually([&] { return begun > 0; }));
  std::stop_source stopped;
  std::jthread stopping{[&] {
    eventually([&] { return all->used().waiting == 1; });
    stopped.request_stop();
  }};
  EXPECT_TRUE(test::throws(errc::cancelled,
                           [&] { (void)all->borrow({.deadline = base::now() + 1h, .stop = stopped.get_token()}); }));
  EXPECT_LE(begun, most_begun(began));
  hangs = false;
  EXPECT_TRUE(eventually([&] { return all->used().in_use == 0; }));
  const auto one = all->borrow(until_now());
  EXPECT_LE(begun, most_begun(began));
}

// The first call has had its answer, and the server answers again.
TEST_F(pool_test, a_late_failure_is_told_to_no_later_call) {
  make(1);
  hangs = true;
  allowed = 0;
  EXPECT_EQ(refusal(purpose::usual), errc::connection_failed);
  EXPECT_TRUE(eventually([&] { return begun == 1; }));
  ask("later", purpose::usual);
  fails_only_first = true;
  hangs = false;
  threads.clear();
  EXPECT_EQ(got, std::vector<std::string>{"later"});
  EXPECT_EQ(begun, 2);
}

TEST_F(pool_test, opens_as_many_at_once_as_calls_wait) {
  make(3);
  hangs = true;
  for (const auto* name : {"one", "two", "three", "four"}) ask(name, purpose::usual);
  EXPECT_TRUE(eventually([&] { return begun == 3; }));
  hangs = false;
  threads.clear();
  EXPECT_EQ(got.size(), 4U);
  EXPECT_LE(opened, 3);
}

TEST_F(pool_test, opens_another_beside_one_that_hangs) {
  make(8);
  hangs_at_first = true;
  const auto began = base::now();
  EXPECT_NO_THROW(all->borrow({.deadline = began + test::patience}));
  EXPECT_GE(begun, 2);
  EXPECT_GE(base::now() - began, 500ms);
}

// It may be busy.
TEST_F(pool_test, opens_ever_fewer_beside_those_that_hang) {
  make(8);
  hangs = true;
  const auto began = base::now();
  EXPECT_THROW(all->borrow({.deadline = began + 1600ms}), error);
  EXPECT_LE(begun, most_begun(began));
  EXPECT_LE(begun, 3) << "at once, after 0.5 s and after 1.5 s";
}

TEST_F(pool_test, ends_without_those_that_hang) {
  make(2);
  hangs = true;
  EXPECT_EQ(refusal(purpose::usual), errc::connection_failed);
  all->close();
  EXPECT_EQ(all->used().open, 0U);
  EXPECT_EQ(refusal(purpose::releasing), errc::connection_failed);
  all.reset();
}

// Where the server lets the client have fewer.
TEST_F(pool_test, makes_do_with_what_the_server_allows) {
  make(4);
  allowed = 1;
  {
    const auto only = all->borrow(no_limit);
    EXPECT_EQ(refusal(purpose::releasing), errc::connection_failed) << "there was no time to wait";
    ask("release", purpose::releasing);
    ask("acquire", purpose::usual);
  }
  threads.clear();
  EXPECT_EQ(got, (std::vector<std::string>{"release", "acquire"}));
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(eventually([&] { return all->used().open == 1U; }));
}

TEST_F(pool_test, reports_that_the_server_allows_none) {
  make(4);
  allowed = 0;
  EXPECT_TRUE(test::throws(errc::connection_failed, [&] { (void)all->borrow(no_limit, purpose::releasing); }));
  EXPECT_EQ(all->used().open, 0U);
}

}  // namespace
}  // namespace rowlock
