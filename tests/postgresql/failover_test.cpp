#include <iterator>

#include "postgresql/postgresql_server.hpp"
#include "server/server_test.hpp"
#include "transaction/caller.hpp"

// A primary crashes, and its standby takes its place.

namespace rowlock::test {
namespace {

struct with_pair {
  explicit with_pair(bool waits) : servers{waits} {}
  postgresql_pair servers;
};

template <bool Waits>
class failover : protected with_pair, public server_test {
 protected:
  failover() : with_pair{Waits}, server_test{servers.open()} {}
  void TearDown() override { servers.primary().wait_for_standby(false); }

  client connect() { return server_test::connect({.call_timeout = 1s}); }
  bool has_standby() {
    return eventually([&] { return servers.primary().has_standby(); });
  }
  /// The primary crashes. A standby that has crashed before, and lacks the last commits, takes its place.
  void fail_over_to_late_standby() {
    servers.primary().crash();
    servers.standby().start();
    servers.promote_standby();
  }
};

using failover_of_synchronous_pair = failover<true>;

TEST_F(failover_of_synchronous_pair, keeps_leases_and_tokens_grow) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  const auto token = held.token();
  const auto brief = locks.acquire("orders/43", {.lease = 12s});
  servers.fail_over();
  servers.rejoin();
  bool is_granted = true;
  EXPECT_TRUE(eventually([&] {  // once it answers again
    return !error_of([&] { return is_granted = other.try_acquire("orders/42").has_value(); });
  }));
  EXPECT_FALSE(is_granted);
  EXPECT_TRUE(is_renewed("orders/43"));
  EXPECT_FALSE(brief.lost().stop_requested()) << to_string(brief.why_lost());
  held.release();
  const auto next = other.try_acquire_for("orders/42", soon);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
}

// Each commit waits for the standby: calls end by their limit, and what they have done is found out or undone.
TEST_F(failover_of_synchronous_pair, whose_standby_hangs_lets_calls_end_and_leaves_nothing_behind) {
  auto locks = connect();
  auto held = locks.acquire("before", {.lease = long_lease});
  auto in_the_way = servers.standby().freeze();
  EXPECT_TRUE(error_of([&] { return locks.try_acquire("orders/42", {.lease = long_lease}); }).has_value());
  EXPECT_FALSE(held.lost().stop_requested());
  in_the_way.reset();
  auto other = connect();
  EXPECT_TRUE(eventually([&] {
    return succeeds([&] { return other.try_acquire("orders/42", {.lease = long_lease}); });
  })) << "an acquisition that nobody heard of keeps the name";
  held.release();
}

TEST_F(failover_of_synchronous_pair, whose_standby_is_asked_is_refused) {
  auto only_standby = db().address();
  only_standby.host = servers.standby().address().host;
  only_standby.options.clear();
  ASSERT_TRUE(has_standby());
  auto locks = connect();  // the role is on the standby, too
  std::string sentence;
  EXPECT_TRUE(eventually([&] {
    const auto e = error_of([&] { return connect_to(only_standby.url()).try_acquire("orders/42"); });
    sentence = e ? e->what() : "";
    return sentence.find("is a standby, which cannot grant locks; connect to the primary") != std::string::npos;
  })) << sentence;
}

// What is committed on the primary alone may be forgotten. A handle says that it has it.
TEST_F(failover_of_synchronous_pair, forgets_nothing_that_was_granted_where_the_wait_for_the_standby_was_ended) {
  auto locks = server_test::connect({.call_timeout = 2s});
  auto other = server_test::connect({.call_timeout = 1s, .durable_release = true});
  const lock_name another{"another"};
  const lock_options how{.lease = long_lease};
  struct grant {
    std::string ended_by;
    std::function<bool(const lock_name&)> has;
  };
  const grant grants[] = {
      {"pg_cancel_backend", [&](const lock_name& name) { return locks.try_acquire(name, how).has_value(); }},
      {"pg_terminate_backend", [&](const lock_name& name) { return locks.try_acquire(name, how).has_value(); }},
      {"pg_terminate_backend", [&](const lock_name& name) { return locks.try_acquire_shared(name, how).has_value(); }},
      {"pg_terminate_backend", [&](const lock_name& name) {
         const lock_name all[] = {name, another};
         return locks.try_acquire_all(all, how).has_value();
       }}};
  for (const auto& each : grants) {
    const lock_name name{std::to_string(&each - std::begin(grants))};
    for (const auto& made : {name, another}) other.acquire(made).release();  // so that it is the grant that waits
    ASSERT_TRUE(has_standby());
    servers.standby().crash();
    background call{[&](std::stop_token) { return succeeds([&] { return each.has(name); }); }};
    ASSERT_TRUE(eventually([&] { return servers.primary().end_waits_for_standby(each.ended_by) > 0; }));
    EXPECT_FALSE(call.get()) << name;
    fail_over_to_late_standby();
    servers.rejoin();
    EXPECT_TRUE(eventually([&] { return succeeds([&] { return other.try_acquire(name); }); })) << name;
  }
}

// Not promised: the server tells of it by a warning, which drivers pass on as such, if at all.
TEST_F(failover_of_synchronous_pair, forgets_a_commit_of_the_caller_whose_wait_was_cancelled) {
  const pq_connection by{servers.primary().address().url()};
  by.run("CREATE TABLE orders (number int)");
  servers.standby().crash();
  background call{[&](std::stop_token) { return by.run("INSERT INTO orders VALUES (42) RETURNING number").rows(); }};
  ASSERT_TRUE(eventually([&] { return servers.primary().end_waits_for_standby("pg_cancel_backend") > 0; }));
  EXPECT_EQ(call.get(), 1);
  fail_over_to_late_standby();
  EXPECT_EQ(pq_connection{servers.primary().address().url()}.run("SELECT FROM orders").rows(), 0);
}

// It waits for a standby of its own.
TEST_F(failover_of_synchronous_pair, has_an_old_primary_that_grants_nothing_when_it_comes_back) {
  connect().close();
  auto address = db().address();
  address.host = servers.primary().address().host;
  servers.fail_over();
  servers.standby().start();
  auto late = connect_to(address.url(), {.call_timeout = 1s});
  EXPECT_TRUE(error_of([&] { return late.try_acquire("orders/42"); }).has_value());
  servers.standby().crash();
}

// What no program can know: the new primary has never heard of the lease. Its holder learns of it at its next renewal,
// and can commit nothing meanwhile.
using failover_of_asynchronous_pair = failover<false>;

TEST_F(failover_of_asynchronous_pair, may_forget_a_lease_whose_holder_cannot_commit_then) {
  auto locks = connect();
  auto other = connect();
  ASSERT_TRUE(has_standby());
  servers.standby().crash();
  const auto held = locks.acquire("orders/42", {.lease = 30s});
  fail_over_to_late_standby();
  std::optional<held_lock> next;
  EXPECT_TRUE(eventually([&] {
    return succeeds([&] { return (next = other.try_acquire("orders/42", {.lease = long_lease})).has_value(); });
  }));
  EXPECT_FALSE(held.lost().stop_requested()) << "two believe at once";
  const auto by = open_caller(db().url(), "read committed");
  by->begin();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { by->confirm(held); }));
  by->rollback();
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::forced) << "it ended before its time";
  EXPECT_GT(next->token(), held.token()) << "a grant takes at least the clock";
}

// Nor that: what has failed must not be started again as it is.
TEST_F(failover_of_asynchronous_pair, grants_twice_where_both_are_primaries) {
  connect().close();
  ASSERT_TRUE(has_standby());
  auto address = db().address();
  servers.fail_over();
  servers.standby().start();
  for (auto* const each : {&servers.primary(), &servers.standby()}) {
    address.host = each->address().host;
    EXPECT_TRUE(connect_to(address.url()).try_acquire("orders/42").has_value());
  }
}

TEST_F(failover_of_asynchronous_pair, is_told_of_by_diagnose) {
  ASSERT_TRUE(has_standby());
  std::string said;
  for (const auto& each : connect().diagnose()) said += each.sentence + "\n";
  EXPECT_NE(said.find("a failover may lose the locks"), std::string::npos) << said;
}

}  // namespace
}  // namespace rowlock::test
