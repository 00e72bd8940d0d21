#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>

#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

constexpr const char* slow_host = "slow.rowlock.test";

/// Answers for one host name, which is this machine; for the time between hold() and let_go() it says nothing.
class resolver {
 public:
  void hold() {
    const std::lock_guard lock{mutex_};
    is_held_ = true;
    asked_ = 0;
  }
  void let_go() {
    const std::lock_guard lock{mutex_};
    is_held_ = false;
    changed_.notify_all();
  }
  void answer() {
    std::unique_lock lock{mutex_};
    ++asked_;
    changed_.wait_for(lock, patience, [&] { return !is_held_; });
  }
  int asked() {
    const std::lock_guard lock{mutex_};
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  int asked_ = 0;
};

// Never destroyed: calls may wait for it when the program ends.
resolver& the_resolver() {
  static auto* const the = new resolver;  // NOLINT(cppcoreguidelines-owning-memory)
  return *the;
}

constexpr auto limit = 1500ms;

/// The resolver of host names does not answer: nothing waits for it longer than its own limit.
class slow_resolver : public on_each_server {
 public:
  ~slow_resolver() override { the_resolver().let_go(); }

 protected:
  std::string url() {
    auto address = db().address();
    address.host = slow_host;
    return address.url();
  }
  client connect_slowly(duration longest = limit) {
    connect();
    return connect_within_limits(url(), {.connect_timeout = longest, .call_timeout = longest});
  }
  /// Its next call needs a new connection.
  void cut_off() {
    the_resolver().hold();
    db().terminate_sessions();
  }
  /// Tries until one has noticed that its connection is gone, and needs another. How long that one took.
  static auto time_of_a_try(client& locks) {
    for (;;) {
      const stopwatch watch;
      const auto e = error_of([&] { return locks.try_acquire("orders/42"); });
      const auto time = watch.elapsed();
      EXPECT_TRUE(e.has_value() && e->is_retryable()) << (e ? e->what() : "granted");
      if (!e || the_resolver().asked() > 0) return time;
    }
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(slow_resolver);

TEST_P(slow_resolver, connecting_ends_at_its_limit) {
  the_resolver().hold();
  const stopwatch watch;
  const auto e = error_of([&] { return connect_to(url(), {.connect_timeout = limit, .call_timeout = limit}); });
  EXPECT_LT(watch.elapsed(), limit + slack());
  ASSERT_TRUE(is_error(e, errc::connection_failed, {.is_retryable = true}));
}

TEST_P(slow_resolver, a_try_ends_at_its_limit) {
  auto locks = connect_slowly();
  cut_off();
  EXPECT_LT(time_of_a_try(locks), limit + slack());
  the_resolver().let_go();
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

TEST_P(slow_resolver, a_wait_ends_when_it_is_stopped) {
  auto locks = connect_slowly(patience);
  cut_off();
  background waiter{waiting(locks)};
  ASSERT_TRUE(eventually([] { return the_resolver().asked() > 0; }));
  const stopwatch watch;
  waiter.stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { waiter.get().release(); }));
  EXPECT_LT(watch.elapsed(), slack());
}

TEST_P(slow_resolver, closing_ends_at_its_limit_and_a_closed_client_is_destroyed_at_once) {
  auto locks = std::make_unique<client>(connect_slowly());
  const auto held = locks->acquire("orders/43", {.lease = 60s});
  cut_off();
  time_of_a_try(*locks);
  const stopwatch closing;
  locks->close();
  EXPECT_LT(closing.elapsed(), limit + slack());
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
  const stopwatch destroying;
  locks.reset();
  EXPECT_LT(destroying.elapsed(), slack());
}

TEST_P(slow_resolver, a_waiter_that_listens_can_be_closed) {
  auto locks = connect_slowly();
  auto other = connect();
  const auto held = other.acquire("orders/42", {.lease = 60s});
  the_resolver().hold();
  // The connection that it waits by is there; the one on which it would be told is not.
  background waiter{[&](std::stop_token) { return error_of([&] { return locks.acquire("orders/42"); }); }};
  ASSERT_TRUE(is_waited_for("orders/42"));
  const stopwatch watch;
  locks.close();
  EXPECT_LT(watch.elapsed(), limit + slack());
  EXPECT_TRUE(waiter.get().has_value());
}

}  // namespace
}  // namespace rowlock::test

/// In place of the C library's, for this whole program.
extern "C" [[gnu::visibility("default")]] int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                                                          addrinfo** found) {
  using function = int(const char*, const char*, const addrinfo*, addrinfo**);
  static auto* const real = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host == nullptr || std::string{host} != rowlock::test::slow_host) return real(host, service, hints, found);
  rowlock::test::the_resolver().answer();
  return real("127.0.0.1", service, hints, found);
}
