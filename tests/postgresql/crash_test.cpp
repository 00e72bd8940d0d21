#include <optional>
#include <ostream>

#include "postgresql/postgresql_server.hpp"
#include "server/server_test.hpp"
#include "transaction/caller.hpp"

// A server crashes that has not written the last commits to disk, since the guard is relaxed.

namespace rowlock::test {
namespace {

struct crash {
  const char* name;
  void (*happens)(postgresql_server&);
};
std::ostream& operator<<(std::ostream& out, const crash& c) { return out << c.name; }

constexpr crash crashes[] = {{"immediate_stop",
                              [](postgresql_server& on) {
                                on.crash();
                                on.start();
                              }},
                             {"killed_server",
                              [](postgresql_server& on) {
                                on.kill_first_process();
                                on.start();
                              }},
                             {"killed_session", [](postgresql_server& on) { on.kill_session(); }}};

constexpr auto quarantine = 12s;  // a lease outlives a start of the server on a busy machine

struct with_late_server {
  with_late_server() { server.write_late(); }
  postgresql_server server;
};

class relaxed_guard : protected with_late_server, public server_test {
 protected:
  relaxed_guard() : server_test{server.open()} {
    static_cast<void>(locks_.set_guard(quarantine, {.relaxed = true}));
    db().execute("UPDATE rowlock_guard SET relaxed_from = clock_timestamp()");
  }

  client connect() { return server_test::connect({.call_timeout = 2s}); }

  /// Whether the name is granted by the first call that the server answers.
  bool is_granted_at_once(const lock_name& name) {
    bool out = false;
    EXPECT_TRUE(eventually(
        [&] { return !error_of([&] { return out = locks_.try_acquire(name, {.lease = 1s}).has_value(); }); }));
    return out;
  }

  client locks_ = connect();
  client holder_ = connect();
};

class relaxed_guard_over_crashes : public relaxed_guard, public testing::WithParamInterface<crash> {};
INSTANTIATE_TEST_SUITE_P(of, relaxed_guard_over_crashes, testing::ValuesIn(crashes),
                         [](const auto& it) { return it.param.name; });

TEST_P(relaxed_guard_over_crashes, grants_nothing_until_the_quarantine_is_over) {
  const auto known = holder_.acquire("known", {.lease = quarantine});
  db().execute("CREATE TABLE waits_for_the_disk ()");
  const auto forgotten = holder_.acquire("forgotten", {.lease = quarantine});
  GetParam().happens(server);
  const stopwatch since;
  EXPECT_TRUE(db().row("known").has_value());
  EXPECT_FALSE(db().row("forgotten").has_value()) << "nothing was lost, so this shows nothing";
  std::optional<held_lock> next;
  EXPECT_TRUE(eventually(
      [&] { return succeeds([&] { return (next = locks_.try_acquire("forgotten", {.lease = 1s})).has_value(); }); }));
  EXPECT_GE(since.elapsed() + a_moment, quarantine);
  EXPECT_GT(next->token(), forgotten.token());
  EXPECT_TRUE(eventually([&] { return forgotten.why_lost() != loss_reason::none; }));
  EXPECT_EQ(forgotten.why_lost(), loss_reason::forgotten) << to_string(forgotten.why_lost());
  EXPECT_GT(locks_.acquire("known/2", {.lease = quarantine}).token(), known.token());
}

TEST_F(relaxed_guard, grants_at_once_after_a_clean_restart) {
  locks_.acquire("orders/42", {.lease = quarantine}).release();
  server.stop();
  server.start();
  EXPECT_TRUE(is_granted_at_once("orders/42"));
}

// What was granted before is on disk then.
TEST_F(relaxed_guard, that_is_tightened_loses_nothing) {
  const auto held = holder_.acquire("orders/42", {.lease = quarantine});
  static_cast<void>(locks_.set_guard(quarantine));
  const auto later = holder_.acquire("orders/43", {.lease = quarantine});
  server.crash();
  server.start();
  EXPECT_TRUE(db().row("orders/42").has_value());
  EXPECT_TRUE(db().row("orders/43").has_value());
  EXPECT_TRUE(is_granted_at_once("orders/44")) << "a guard that is not relaxed begins no quarantine";
}

// The caller's data are on disk, and with them all that was committed before, as the lease.
TEST_F(relaxed_guard, leaves_the_callers_transactions_durable) {
  db().execute("CREATE TABLE orders (token bigint); GRANT ALL ON orders TO PUBLIC");
  const auto held = holder_.acquire("orders/42", {.lease = quarantine});
  const auto tx = open_caller(db().url(), "read committed");
  tx->begin();
  tx->confirm(held);
  tx->statement("INSERT INTO orders VALUES (1)");
  tx->lock_in(locks_, "orders/43");
  EXPECT_EQ(tx->text("SHOW synchronous_commit"), "on");
  tx->commit();
  server.crash();
  server.start();
  EXPECT_EQ(db().number("SELECT count(*) FROM orders"), 1);
  EXPECT_TRUE(db().row("orders/42").has_value());
}

}  // namespace
}  // namespace rowlock::test
