#include <cstddef>
#include <deque>
#include <span>

#include "server/server_test.hpp"
#include "server/steps.hpp"

namespace rowlock::test {
namespace {

class round_trips : public on_each_server_by_proxy {
 protected:
  template <class Call>
  int of(Call call) {
    const auto before = proxy().round_trips();
    call();
    return proxy().round_trips() - before;
  }
  /// On MySQL, an insert does not tell what it has done.
  int of_acquiring() {
    const bool does_not_tell = is_on("mysql") && db().text("SELECT VERSION()").find("MariaDB") == std::string::npos;
    return does_not_tell ? 2 : 1;
  }
  /// Everything has been prepared, and two sessions are there.
  client connect_warm(client_options options = {}) {
    auto locks = connect_through_proxy(std::move(options));
    for (int i = 0; i < 2; ++i) {
      auto held = locks.acquire("warm");
      held.extend(long_lease);
      EXPECT_FALSE(locks.try_acquire("warm").has_value());
    }
    return locks;
  }

  client locks_ = connect_warm();
};
ROWLOCK_SUITE_ON_EACH_SERVER(round_trips);
ROWLOCK_SUITE_LIKE_ON_SERVERS(round_trips_on_postgresql, round_trips, on("postgresql", servers()));

TEST_P(round_trips, of_acquiring_a_new_name_are_few) {
  std::optional<held_lock> held;
  // MariaDB's first statement makes no row.
  EXPECT_EQ(of([&] { held = locks_.try_acquire("orders/42"); }), is_on("mysql") ? 2 : 1);
  std::optional<held_lock> next;
  EXPECT_EQ(of([&] { next = locks_.try_acquire("orders/43"); }), of_acquiring()) << "the last one was new, too";
}

TEST_P(round_trips, of_each_call_about_a_known_name_are_few) {
  locks_.acquire("orders/42").release();
  std::optional<held_lock> held;
  EXPECT_EQ(of([&] { held = locks_.try_acquire("orders/42"); }), of_acquiring());
  // PostgreSQL is asked for the row first, which this client was granted last, and then as for any name.
  const auto refused = [&] { EXPECT_FALSE(locks_.try_acquire("orders/42").has_value()); };
  EXPECT_EQ(of(refused), is_on("postgresql") ? 2 : of_acquiring());
  EXPECT_EQ(of(refused), 1) << "it was refused before";
  EXPECT_EQ(of([&] { held->extend(long_lease); }), 1);
  EXPECT_EQ(of([&] { held->release(); }), 1);
}

TEST_P(round_trips, of_a_release_are_one_however_many_wait) {
  for (const int more : {2, 198}) {
    db().add_waiters("orders/" + std::to_string(more), more);
    auto held = locks_.acquire("orders/" + std::to_string(more));
    EXPECT_EQ(of([&] { held.release(); }), 1) << more;
  }
}

// In the long run: at first it asks more often, since a release under way may not have known of it.
TEST_P(round_trips, of_one_who_waits_behind_a_lease_are_few) {
  const int a_second = is_on("postgresql") ? 1 : 5;
  auto other = connect();
  const auto theirs = other.acquire("orders/42", {.lease = long_lease});
  background one{waiting(locks_)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  let_pass(4s);
  const stopwatch watch;
  const auto found = of([&] { let_pass(6s); });
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(watch.elapsed() + 500ms).count();
  EXPECT_LE(found, a_second * seconds + 1) << "of what comes every two seconds there may be one more";
}

TEST_P(round_trips, of_a_share_are_few) {
  locks_.acquire_shared("orders/42").release();
  std::optional<held_lock> held;
  EXPECT_EQ(of([&] { held = locks_.try_acquire_shared("orders/42"); }), is_on("mysql") ? 2 : 1);
  EXPECT_EQ(of([&] { held->release(); }), 1);
}

TEST_P(round_trips, of_a_list_do_not_grow_with_the_names_that_are_shared) {
  std::vector<held_lock> shares;
  const auto of_a_list = [&] {
    std::vector<lock_info> found;
    const int out = of([&] { found = locks_.list("job-"); });
    EXPECT_EQ(found.size(), shares.size());
    for (const auto& each : found) EXPECT_EQ(each.sharers, 1) << each.name;
    return out;
  };
  of_a_list();
  const int without = of_a_list();
  for (const auto* const name : {"job-1", "job-2", "job-3"}) shares.push_back(locks_.acquire_shared(name));
  EXPECT_EQ(of_a_list(), without);
}

TEST_P(round_trips_on_postgresql, of_a_cycle_are_two_with_transaction_pooling_too) {
  auto locks = connect_warm({.transaction_pooling = true});
  EXPECT_EQ(of([&] { locks.acquire("orders/42").release(); }), 2);
}

/// Many names at once.
class batch : public round_trips {
 protected:
  static constexpr std::size_t largest = 32;

  void SetUp() override {
    for (std::size_t i = 0; i < largest; ++i) texts_.push_back("orders/" + std::to_string(i));
    for (const auto& text : texts_) {
      attempts_.push_back(attempt_at(text, text, long_lease));
      refused_.push_back(attempts_.back());
      refused_.back().acquisition = others_.emplace_back("other " + text);
      held_.push_back({.name = text, .acquisition = text, .lease = long_lease});
    }
    all_.emplace(db().url_through(proxy().port()));
  }
  void acquire(std::size_t size) {
    for (const auto& a : all_->acquire(std::span{attempts_}.first(size)))
      EXPECT_EQ(a.what, strategies::verdict::granted);
  }
  void acquire_all_but(std::size_t locked) {
    const auto answers = all_->acquire(attempts_);
    for (std::size_t i = 0; i < answers.size(); ++i)
      EXPECT_EQ(answers[i].what, i == locked ? strategies::verdict::inconclusive : strategies::verdict::granted) << i;
  }
  void be_refused(std::size_t size) {
    for (const auto& a : all_->acquire(std::span{refused_}.first(size))) EXPECT_EQ(a.what, strategies::verdict::busy);
  }
  void renew(std::size_t size) {
    for (const auto& r : all_->renew(std::span{held_}.first(size))) EXPECT_EQ(r.what, store::standing::kept);
  }
  void release(std::size_t size) {
    for (const auto r : all_->release(std::span{held_}.first(size))) EXPECT_EQ(r, store::release_outcome::released);
  }

 private:
  std::vector<std::string> texts_;
  std::deque<std::string> others_;
  std::vector<strategies::acquire_args> attempts_;
  std::vector<strategies::acquire_args> refused_;
  std::vector<store::lease_ref> held_;
  std::optional<steps> all_;
};
ROWLOCK_SUITE_ON_EACH_SERVER(batch);

TEST_P(batch, needs_as_many_round_trips_whatever_its_size) {
  acquire(largest);  // makes the rows
  release(largest);
  acquire(2);
  renew(2);
  release(2);
  for (const std::size_t size : {std::size_t{2}, largest}) {
    EXPECT_EQ(of([&] { acquire(size); }), of_acquiring()) << size;
    EXPECT_EQ(of([&] { renew(size); }), 1) << size;
    EXPECT_EQ(of([&] { release(size); }), 1) << size;
  }
}

TEST_P(batch, of_held_names_is_refused_in_one_round_trip) {
  acquire(largest);
  be_refused(largest);  // from then on they may be looked at first
  be_refused(largest);
  for (const std::size_t size : {std::size_t{2}, largest}) EXPECT_EQ(of([&] { be_refused(size); }), 1) << size;
}

// Each of them by itself would take as many round trips as there are names.
TEST_P(batch, is_granted_in_few_round_trips_but_for_a_row_that_somebody_has_locked) {
  for (int i = 0; i < 2; ++i) {  // with what makes rows, and without
    acquire(largest);
    release(largest);
  }
  auto in_the_way = db().transaction("SELECT version FROM rowlock_lock WHERE name = 'orders/7' FOR UPDATE");
  EXPECT_LE(of([&] { acquire_all_but(7); }), 5);
  in_the_way.reset();
  EXPECT_EQ(of([&] { release(7); }), 1);
}

TEST_P(batch, needs_one_round_trip_more_for_each_statement_when_it_is_prepared) {
  EXPECT_EQ(of([&] { acquire(largest); }), 2 * of_acquiring());
  EXPECT_EQ(of([&] { renew(largest); }), 2);
  EXPECT_EQ(of([&] { release(largest); }), 2);
}

}  // namespace
}  // namespace rowlock::test
