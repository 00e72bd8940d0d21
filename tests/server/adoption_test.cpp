#include <mutex>
#include <optional>

#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

/// The way to the server is cut while it is in the middle of granting.
class grant_under_way : public on_each_server_by_proxy {
 protected:
  /// From now on: which requests end a session (E), and which are about the name (N).
  void watch_requests() {
    {
      const std::lock_guard lock{mutex_};
      seen_.clear();
    }
    on_request(
        [this](std::string_view request) {
          const auto says = [&](std::string_view what) { return request.find(what) != std::string_view::npos; };
          const std::lock_guard lock{mutex_};
          if (says("pg_terminate_backend") || says("IS_USED_LOCK") || says("KILL ")) seen_ += 'E';
          if (says("orders/42")) seen_ += 'N';
          return false;
        },
        tcp_proxy::action::cut_before);
  }
  std::string seen() {
    const std::lock_guard lock{mutex_};
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::string seen_;
};
ROWLOCK_SUITE_ON_EACH_SERVER(grant_under_way);

// What is read while it may still be committed says nothing. At its gate MySQL looks once a second whether the client
// is there, and otherwise lets the statement go on. If it does so before the client ends the statement, the client
// holds the name: then there is another round.
TEST_P(grant_under_way, is_ended_before_anybody_looks_what_became_of_it) {
  // Longer than this test: nothing but the client ends it.
  auto locks = connect_by_proxy({.call_timeout = patience});
  const auto is_ended = [&] {
    std::optional<held_lock> held;
    const auto gate = db().gate();
    background one{[&](const std::stop_token&) { return error_of([&] { held = locks.try_acquire("orders/42"); }); }};
    if (!eventually([&] { return db().at_gate() == 1; })) return false;
    watch_requests();
    proxy().cut();
    const auto e = one.get();
    EXPECT_EQ(seen().substr(0, 1), "E") << seen();
    if (!e) {
      EXPECT_TRUE(is_on("mysql") && held && is_held_by("orders/42", *held));
      return false;
    }
    EXPECT_TRUE(e->outcome_is_unknown()) << e->what();
    EXPECT_TRUE(eventually([&] { return db().at_gate() == 0; }));
    return true;
  };
  EXPECT_TRUE(eventually(is_ended));
}

}  // namespace
}  // namespace rowlock::test
