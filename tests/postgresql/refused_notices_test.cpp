#include "postgresql/postgresql_server.hpp"
#include "server/server_test.hpp"
#include "sql/sheet.hpp"
#include "support/postgresql_database.hpp"
#include "support/pq_connection.hpp"

// The server does not take a notification. It undoes the whole transaction then.

namespace rowlock::test {
namespace {

/// Waiters look whether their turn has come.
constexpr auto between_looks = 2s;

/// How the server comes to refuse them.
struct way_to_refuse {
  std::string_view name;
  bool is_real;
};

constexpr way_to_refuse ways_to_refuse[] = {{.name = "by_triggers", .is_real = false},
                                            {.name = "by_a_full_queue", .is_real = true}};

std::unique_ptr<private_server> server_with_small_queue(const way_to_refuse& how) {
  return how.is_real ? std::make_unique<postgresql_server>() : nullptr;
}

/// As where a session listens and never reads, until the queue is full. That takes gigabytes on a server that cannot be
/// given a smaller one, so there statements which would notify somebody are refused as the server would.
class refused_notices : protected with_private_server,
                        public server_test,
                        public testing::WithParamInterface<way_to_refuse> {
 protected:
  refused_notices()
      : with_private_server{server_with_small_queue(GetParam())},
        server_test{server ? server->open() : std::make_unique<postgresql_database>()} {}

  void SetUp() override {
    if (GetParam().is_real && !postgresql_server::has_small_queue(db()))
      GTEST_SKIP() << "max_notify_queue_pages came with PostgreSQL 17";
  }

  client locks_ = connect();
  client other_ = connect();

  void refuse() { GetParam().is_real ? fill_queue() : add_triggers(); }
  /// The other client waits for the name while notices are refused, and is granted it when the call has ended the hold.
  void expect_next(const std::function<void()>& ending) {
    background next{waiting(other_)};
    ASSERT_TRUE(is_waited_for("orders/42"));
    refuse();
    EXPECT_NO_THROW(ending());
    EXPECT_TRUE(is_held_by("orders/42", next.get()));
  }

 private:
  void fill_queue() {
    reader_.emplace(db().administrator().url());
    reader_->run("LISTEN noise");
    reader_->run("BEGIN");
    EXPECT_ANY_THROW(db().execute("SELECT pg_notify('noise', repeat('x', 7000) || n) FROM generate_series(1, 200) n"));
    EXPECT_ANY_THROW(db().execute("NOTIFY noise"));
  }
  void add_triggers() {
    db().execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF current_query() LIKE '%pg_notify%' "
        "THEN RAISE EXCEPTION 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000'; END IF; "
        "RETURN NULL; END $$");
    for (const std::string table : {"rowlock_lock", "rowlock_waiter", "rowlock_share"})
      db().execute("CREATE TRIGGER refuse AFTER UPDATE OR DELETE ON " + table +
                   " FOR EACH ROW EXECUTE FUNCTION refuse()");
  }

  std::optional<pq_connection> reader_{};
};

INSTANTIATE_TEST_SUITE_P(on, refused_notices, testing::ValuesIn(ways_to_refuse),
                         [](const auto& each) { return std::string{each.param.name}; });

TEST_P(refused_notices, do_not_undo_a_release) {
  for (const auto order : {fairness::unfair, fairness::fifo}) {
    const recorder told;
    auto locks = connect({.observer = told.observer()});
    auto other = connect();
    auto held = locks.acquire("orders/42", {.lease = long_lease});
    background one{waiting(other, {.fairness = order})};
    ASSERT_TRUE(is_waited_for("orders/42") && eventually([&] { return is_marked(); }));
    if (order == fairness::unfair) refuse();
    const stopwatch watch;
    EXPECT_NO_THROW(held.release());
    EXPECT_TRUE(is_held_by("orders/42", one.get()));
    EXPECT_LT(watch.elapsed(), between_looks + slack());
    EXPECT_TRUE(eventually([&] { return told.warned("takes no more notifications"); }));
  }
}

TEST_P(refused_notices, do_not_undo_what_ends_later) {
  auto held = locks_.acquire("orders/42", {.at_least = 300ms});
  expect_next([&] { held.release(); });
}

TEST_P(refused_notices, do_not_undo_the_release_of_a_share) {
  auto held = locks_.acquire_shared("orders/42", {.lease = long_lease});
  background one{waiting(other_)};
  ASSERT_TRUE(is_waited_for("orders/42") && eventually([&] { return is_marked(); }));
  refuse();
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(is_held_by("orders/42", one.get()));
}

TEST_P(refused_notices, do_not_keep_the_permits_of_a_dead_holder) {
  const auto dead = locks_.acquire_shared("orders/42", {.lease = long_lease, .renew = false});
  refuse();
  db().kill_share(dead.token().value(), 1s);
  EXPECT_TRUE(other_.try_acquire("orders/42").has_value());
}

TEST_P(refused_notices, do_not_undo_what_is_freed_by_force) {
  const auto held = locks_.acquire("orders/42", {.lease = long_lease});
  expect_next([&] { EXPECT_TRUE(other_.force_release("orders/42")); });
}

TEST_P(refused_notices, do_not_keep_a_waiter_that_has_left_in_the_queue) {
  const auto held = locks_.acquire("orders/42", {.lease = long_lease});
  background one{waiting(other_)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  refuse();
  one.stop();
  EXPECT_TRUE(eventually(between_looks, [&] { return db().tickets() == 0; })) << "it would expire in 6 s";
}

TEST_P(refused_notices, do_not_undo_the_end_of_a_transaction) {
  refuse();
  auto held = locks_.acquire("orders/42", {.strategy = strategy::for_update});
  background one{waiting(other_)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(is_held_by("orders/42", one.get()));
}

TEST_P(refused_notices, do_not_undo_what_lets_readers_in) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  background one{[&](std::stop_token stop) { return other_.acquire_shared("orders/42", {}, std::move(stop)); }};
  ASSERT_TRUE(is_waited_for("orders/42"));
  refuse();
  EXPECT_NO_THROW(held.downgrade());
  EXPECT_NO_THROW(one.get().release());
  EXPECT_NO_THROW(held.release());
}

TEST_P(refused_notices, do_not_undo_the_releases_of_a_client_that_is_closed) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  auto another = locks_.acquire("orders/43", {.lease = long_lease});
  expect_next([&] { locks_.close(); });
  EXPECT_TRUE(other_.try_acquire("orders/43").has_value());
}

class silent_statements : public only_on<postgresql_database> {};

// Each statement that notifies somebody besides its work can do without, and PostgreSQL understands what is left.
TEST_F(silent_statements, still_do_their_work) {
  connect().close();
  const auto sql = sheets::postgresql("rowlock_", {});
  int silent = 0;
  for (std::size_t i = 0; i < sheets::sheet::size; ++i) {
    const auto& with = sql[static_cast<sheets::verb>(i)];
    const auto without = sheets::postgresql_without_notices(with);
    if (!without) continue;
    for (const auto& text : {without->read, without->write, without->batch, without->batch_skipping}) {
      if (!text) continue;
      ++silent;
      EXPECT_EQ(text->find("pg_notify"), std::string::npos) << *text;
      EXPECT_NO_THROW(
          db().execute("PREPARE silent AS " + sheets::replaced(*text, "{place}", "") + "; DEALLOCATE silent"))
          << *text;
    }
  }
  EXPECT_EQ(silent, 11) << "release, defer_release, leave and their batches, free, release_share and its two batches, "
                           "notify_waiters";
}

/// A transaction that has notified others waits for a standby, and lets no other transaction notify before that.
class delayed_notices : protected with_private_server, public server_test {
 protected:
  delayed_notices() : with_private_server{std::make_unique<postgresql_server>()}, server_test{server->open()} {}

  postgresql_server& standing() { return static_cast<postgresql_server&>(*server); }
};

TEST_F(delayed_notices, do_not_undo_a_release) {
  for (const auto how : {strategy::unique_index, strategy::for_update}) {
    auto locks = connect();
    auto other = connect();
    const auto name = std::string{"orders/"}.append(to_string(how));
    auto held = locks.acquire(name, {.strategy = how});
    const auto token = held.token();
    background one{[&](std::stop_token stop) { return other.acquire(name, {.strategy = how}, stop).token(); }};
    ASSERT_TRUE(is_waited_for(name));
    if (how == strategy::unique_index) {
      ASSERT_TRUE(eventually([&] { return is_marked(name); }));
    }
    standing().wait_for_standby(true);
    background noise{[&](const std::stop_token& enough) {  // the setting takes effect a moment later
      pq_connection line{db().administrator().url()};
      while (!enough.stop_requested()) line.run("NOTIFY noise");
    }};
    // Whoever it is: a client that looks whether it can hear itself may be first.
    const auto stuck =
        "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'object' AND classid = "
        "'pg_database'::regclass AND objid = 0 AND granted AND wait_event = 'SyncRep'";
    // One look is enough: while one that has waited hands the lock over to the next, none is stuck.
    bool is_stuck = false;
    EXPECT_TRUE(eventually([&] { return noise.is_done_within(0ms) || (is_stuck = db().number(stuck) == 1); }));
    if (noise.is_done_within(0ms)) noise.get();  // says why
    EXPECT_TRUE(is_stuck) << db().text(
        "SELECT current_setting('synchronous_standby_names') || ': ' || string_agg(concat_ws(' ', usename, state, "
        "wait_event, left(query, 40)), '; ') FROM pg_stat_activity");
    EXPECT_NO_THROW(held.release());
    standing().wait_for_standby(false);
    EXPECT_GT(one.get(), token);
    noise.stop();
    noise.get();
  }
}

}  // namespace
}  // namespace rowlock::test
