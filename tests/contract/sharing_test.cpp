#include <atomic>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <vector>

#include "contract/sharing.hpp"
#include "support/slowness.hpp"
#include "support/takes_at_most.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

ROWLOCK_CONTRACT_SUITE(sharing, usual_pairs());
class sharing_crowd : public sharing {};
ROWLOCK_CONTRACT_SUITE(sharing_crowd, any_pair());

TEST_P(sharing, readers_share_a_name_and_a_writer_holds_it_alone_by_turns) {
  fencing_token last;
  for (int turn = 0; turn < 5; ++turn) {
    auto one = locks_.acquire_shared(name);
    auto two = other_.try_acquire_shared(name);
    auto three = locks_.try_acquire_shared(name);
    ASSERT_TRUE(two && three);
    EXPECT_GT(one.token(), last);
    EXPECT_GT(two->token(), one.token());
    EXPECT_GT(three->token(), two->token());
    EXPECT_FALSE(locks_.try_acquire(name, with()));
    EXPECT_FALSE(other_.try_acquire(name, with()));
    one.release();
    two->release();
    EXPECT_FALSE(other_.try_acquire(name, with()));
    last = three->token();
    three->release();
    const auto alone = turn % 2 == 0 ? other_.try_acquire(name, with()) : locks_.acquire(name, with());
    ASSERT_TRUE(alone);
    EXPECT_GT(alone->token(), last);
    last = alone->token();
    EXPECT_FALSE(other_.try_acquire_shared(name));
    EXPECT_FALSE(locks_.try_acquire_shared(name));
  }
  EXPECT_TRUE(locks_.sharers(name).empty());
}

// A statement each would share one time limit: late together, they would all be lost.
TEST_P(sharing, of_many_names_and_of_one_by_many_ends_in_few_statements) {
  std::vector<held_lock> held;
  for (int i = 0; i < many(1000, 60); ++i) {
    held.push_back(locks_.acquire_shared(name));
    held.push_back(locks_.acquire_shared("orders/" + std::to_string(1000 + i)));
  }
  const auto before = sent(locks_, "releasing");
  const auto began = std::chrono::steady_clock::now();
  locks_.close();
  EXPECT_LT(std::chrono::steady_clock::now() - began, client_options{}.call_timeout);
  EXPECT_LE(sent(locks_, "releasing") - before, 3U) << "a batch has 1,024";
  EXPECT_EQ(db().shares(), 0);
  EXPECT_TRUE(other_.try_acquire(name, with()));
  EXPECT_TRUE(other_.try_acquire("orders/1000", with()));
}

TEST_P(sharing, readers_that_wait_have_it_together_when_the_writer_is_gone) {
  auto alone = locks_.acquire(name, with());
  std::vector<std::unique_ptr<waiter>> readers;
  for (int i = 0; i < 4; ++i) readers.push_back(start_to_share(i % 2 == 0 ? locks_ : other_, fairness::unfair));
  for (const auto& each : readers) EXPECT_FALSE(each->is_done_within(a_moment / 4));
  alone.release();
  std::vector<held_lock> held;
  for (const auto& each : readers) held.push_back(each->get());
  EXPECT_EQ(db().shares(), 4);
}

TEST_P(sharing, readers_of_one_client_have_it_by_one_statement) {
  for (const auto how : {fairness::unfair, fairness::fifo}) {
    auto writer = other_.acquire(name, with());
    constexpr int readers = 20;
    waiters all;
    for (int i = 0; i < readers; ++i) all.push_back(start_to_share(locks_, how, "reader " + std::to_string(i)));
    const auto before = sent(locks_, "acquiring");
    writer.release();
    auto held = shares_of(all);
    EXPECT_LE(sent(locks_, "acquiring") - before, readers / 2U) << "a few, where the machine is busy";
    EXPECT_TRUE(eventually([&] { return locks_.find(name).value().sharers == readers; }));
    std::set<std::int64_t> tokens;
    std::set<std::string> notes;
    for (const auto& each : locks_.sharers(name)) {
      tokens.insert(each.token.value());
      notes.insert(each.note);
    }
    EXPECT_EQ(tokens.size(), readers * 1U);
    EXPECT_EQ(notes.size(), readers * 1U);
    for (const auto& each : held) EXPECT_TRUE(tokens.contains(each.token().value()));
    held[0].release();
    EXPECT_FALSE(other_.try_acquire(name, with()));
    held.clear();
    EXPECT_TRUE(are_no_rows_left());
  }
}

TEST_P(sharing, readers_that_come_before_a_writer_have_it_without_those_that_come_after) {
  auto first = other_.acquire(name, with());
  waiters early;
  waiters late;
  for (int i = 0; i < 5; ++i) early.push_back(start_to_share(locks_, fairness::fifo));
  background writer{
      [&](std::stop_token stop) { return other_.acquire(name, with({.fairness = fairness::fifo}), std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 6; }));
  for (int i = 0; i < 6; ++i) late.push_back(start_to_share(locks_, fairness::fifo));
  first.release();
  auto held = shares_of(early);
  for (const auto& each : late) EXPECT_FALSE(each->is_done_within(a_moment / 6));
  EXPECT_FALSE(writer.is_done_within(a_moment));
  held.clear();
  auto alone = writer.get();
  for (const auto& each : late) EXPECT_FALSE(each->is_done_within(a_moment / 6));
  const auto token = alone.token();
  alone.release();
  for (const auto& each : late) EXPECT_GT(each->get().token(), token);
}

TEST_P(sharing, readers_that_go_while_it_is_got_for_them_leave_nothing) {
  for (int round = 0; round < many(100, 10); ++round) {
    auto writer = other_.acquire(name, with());
    std::vector<std::unique_ptr<background<bool>>> all;
    for (int i = 0; i < 12; ++i)
      all.push_back(std::make_unique<background<bool>>([&](std::stop_token stop) {
        auto held = locks_.acquire_shared(name, {}, std::move(stop));
        return held.why_lost() == loss_reason::none;
      }));
    ASSERT_TRUE(eventually([&] { return db().tickets() == 12; }));
    writer.release();
    for (std::size_t i = 0; i < all.size(); i += 2) all[i]->stop();
    for (const auto& each : all) error_of([&] { return each->get(); });
    ASSERT_TRUE(eventually([&] { return can_have(other_, name); }));
    ASSERT_TRUE(are_no_rows_left());
  }
}

TEST_P(sharing, a_writer_waits_for_the_last_reader_and_no_new_one_passes_it) {
  auto one = locks_.acquire_shared(name);
  auto two = locks_.acquire_shared(name);
  background writer{[&](std::stop_token stop) { return other_.acquire(name, with(), std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() > 0; }));
  EXPECT_FALSE(locks_.try_acquire_shared(name, {.fairness = fairness::fifo}));
  EXPECT_TRUE(eventually([&] { return !locks_.try_acquire_shared(name); })) << "one that has waited for a while";
  one.release();
  EXPECT_FALSE(writer.is_done_within(a_moment));
  two.release();
  EXPECT_TRUE(writer.get());
}

TEST_P(sharing, shares_are_listed) {
  auto locks = connect({.application = "shop"});
  const auto one = locks.acquire_shared(name, {.note = "first"});
  const auto two = locks.acquire_shared(name, {.note = "second"});
  const auto found = locks.find(name);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->owner, "(shared)");
  EXPECT_EQ(found->sharers, 2);
  const auto all = locks.sharers(name);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].note, "first");
  EXPECT_EQ(all[0].token, one.token());
  EXPECT_EQ(all[1].token, two.token());
  EXPECT_TRUE(all[1].owner.starts_with("shop:"));
  EXPECT_EQ(all[1].sharers, 1);
  EXPECT_EQ(locks.list().size(), 1U);
}

TEST_P(sharing, shares_are_renewed) {
  const auto lease = on_this_machine(1s);
  const auto held = locks_.acquire_shared(name, {.lease = lease});
  const auto again = other_.acquire_shared(name, {.lease = lease});
  EXPECT_FALSE(eventually(2 * lease, [&] { return held.lost().stop_requested() || again.lost().stop_requested(); }));
  EXPECT_FALSE(other_.try_acquire(name, with()));
}

// Of many names, and of one.
TEST_P(sharing_crowd, many_shares_are_renewed_by_few_statements) {
  constexpr std::size_t shares = 300;
  std::vector<held_lock> held;
  for (std::size_t i = 0; i < shares; ++i) {
    const auto own_name = "orders/" + std::to_string(i);
    held.push_back(locks_.acquire_shared(i % 3 == 0 ? name : own_name, {.lease = 6s}));
  }
  const auto alone = locks_.acquire("alone", with());
  const auto before = locks_.stats();
  const auto statements_before = sent(locks_, "renewing");
  ASSERT_TRUE(eventually(30s, [&] { return locks_.stats().renewals >= before.renewals + 2 * shares; }));
  EXPECT_LE(sent(locks_, "renewing") - statements_before, shares / 3);
  for (const auto& each : held) EXPECT_EQ(each.why_lost(), loss_reason::none) << each.name();
  EXPECT_EQ(alone.why_lost(), loss_reason::none);
  EXPECT_FALSE(locks_.try_acquire("orders/1", with()));
}

TEST_P(sharing, a_dead_reader_is_waited_for_no_longer_than_its_lease_and_takes_nothing_off_the_next) {
  auto living = locks_.acquire_shared(name, {.lease = 10min});
  auto dead = other_.acquire_shared(name, {.lease = 200ms, .renew = false});
  living.release();
  EXPECT_TRUE(eventually([&] { return dead.lost().stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return other_.try_acquire(name, with()).has_value(); }))
      << "the row may not last as long as that of who has let go";
  EXPECT_EQ(dead.why_lost(), loss_reason::expired);
  const auto next = locks_.acquire_shared(name);
  EXPECT_TRUE(throws(errc::lock_lost, [&] { dead.release(); }));
  EXPECT_FALSE(other_.try_acquire(name, with()));
  EXPECT_EQ(next.why_lost(), loss_reason::none);
}

// Its client still relies on it; an operator, or a clock, has ended the time in which it counted.
TEST_P(sharing, a_share_of_an_earlier_time_counts_no_more) {
  auto released = locks_.acquire_shared(name, {.lease = 10min, .renew = false});
  auto extended = locks_.acquire_shared(name, {.lease = 10min, .renew = false});
  db().expire(name);
  connect().acquire(name, with()).release();
  const auto living = other_.acquire_shared(name);
  EXPECT_TRUE(throws(errc::lock_lost, [&] { released.release(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { extended.extend(1min); }));
  EXPECT_FALSE(locks_.try_acquire(name, with()));
  EXPECT_EQ(other_.sharers(name).size(), 1U);
  EXPECT_EQ(living.why_lost(), loss_reason::none);
}

TEST_P(sharing, a_holder_has_it_again) {
  const lock_options as_job{.as = holder::named("job")};
  auto one = locks_.acquire_shared(name, as_job);
  const auto two = locks_.acquire_shared(name, as_job);
  EXPECT_EQ(one.token(), two.token());
  auto alone_as_job = with();
  alone_as_job.as = as_job.as;
  EXPECT_FALSE(locks_.try_acquire(name, alone_as_job)) << "which shares it";
}

TEST_P(sharing, refuses_what_cannot_be_shared) {
  for (const lock_options& each : {lock_options{.strategy = strategy::version_cas},
                                   lock_options{.strategy = strategy::for_update}, lock_options{.at_least = 1s}})
    EXPECT_TRUE(throws(errc::unsupported, [&] { return locks_.try_acquire_shared(name, each); }));
  EXPECT_TRUE(locks_.try_acquire(name, with()));
}

TEST_P(sharing, is_extended) {
  auto held = locks_.acquire_shared(name, {.lease = 10min, .renew = false});
  held.extend(300ms);
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return locks_.try_acquire(name, with()).has_value(); }));
}

TEST_P(sharing, standard_locks_of_a_shared_mutex) {
  shared_mutex here{locks_, name};
  shared_mutex there{other_, name};
  {
    std::shared_lock one{here};
    std::shared_lock two{there, std::try_to_lock};
    EXPECT_TRUE(two.owns_lock());
    EXPECT_FALSE(there.try_lock());
    EXPECT_GT(there.held().token(), here.held().token());
    EXPECT_EQ(locks_.sharers(name).size(), 2U);
  }
  {
    const std::unique_lock alone{here};
    EXPECT_FALSE(there.try_lock_shared());
    EXPECT_TRUE(is_refused([&] { return there.try_lock_shared_for(10ms); }));
    EXPECT_TRUE(here.try_lock_shared()) << "who has it alone";
    here.unlock_shared();
  }
  EXPECT_TRUE(throws(errc::not_held, [&] { (void)here.held(); }));
  EXPECT_TRUE(can_have(other_, name));
}

// The longest wait of either is in the report of the test, in milliseconds.
TEST_P(sharing_crowd, two_hundred_readers_do_not_starve_a_writer) {
  std::atomic<bool> is_over{false};
  std::atomic<std::int64_t> reads{0};
  std::atomic<std::int64_t> longest_read{0};
  std::int64_t longest_write = 0;
  const auto measured = [](auto take) {
    const auto begin = std::chrono::steady_clock::now();
    const auto held = take();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  };
  {
    std::vector<test_thread> readers;
    for (int t = 0; t < 200; ++t)
      readers.emplace_back([&] {
        while (!is_over) {
          const auto waited = measured([&] { return locks_.acquire_shared(name); });
          for (auto so_far = longest_read.load(); so_far < waited;)
            if (longest_read.compare_exchange_weak(so_far, waited)) break;
          ++reads;
        }
      });
    for (int writes = 0; writes < 5; ++writes) {
      const auto before = reads.load();
      longest_write = std::max(longest_write, measured([&] { return other_.acquire(name, with()); }));
      EXPECT_TRUE(eventually([&] { return reads > before; })) << "nor are they starved";
    }
    is_over = true;
  }
  EXPECT_LT(longest_write, std::chrono::milliseconds{patience}.count());
  RecordProperty("longest_write", std::to_string(longest_write));
  RecordProperty("longest_read", std::to_string(longest_read));
  RecordProperty("reads", std::to_string(reads));
}

// Each of them is notified by the one before, and the first by the release. Without that, they look every 2 s.
TEST_P(sharing, is_granted_to_readers_of_many_clients_at_once) {
  if (!GetParam().has_lease) return;
  std::vector<client> others;
  for (int i = 0; i < 4; ++i) others.push_back(connect());
  EXPECT_TRUE(takes_at_most(300ms, [&] {
    auto held = locks_.acquire(name, with());
    waiters readers;
    for (auto& each : others) readers.push_back(start_to_share(each, fairness::fifo));
    EXPECT_FALSE(readers.back()->is_done_within(1s)) << "meanwhile its client begins to listen";
    const stopwatch since;
    held.release();
    const auto shares = shares_of(readers);
    return since.elapsed();
  }));
}

// A reader of another client comes before the next waiter here, and behind a set of its own client.
TEST_P(sharing, that_begins_by_a_downgrade_is_joined_at_once) {
  if (!GetParam().has_lease) return;
  const std::vector<lock_name> both{name, "for hours"};
  const auto for_hours = locks_.acquire("for hours", with());
  EXPECT_TRUE(takes_at_most(100ms, [&] {
    auto held = locks_.acquire(name, with());
    background set{[&](std::stop_token stop) { return other_.try_acquire_all_for(both, patience, with(), stop); }};
    EXPECT_TRUE(eventually([&] { return db().tickets() == 2; }));
    const auto reader = start_to_share(other_, fairness::unfair);
    background alone{[&](std::stop_token stop) { return locks_.try_acquire_for(name, patience, with(), stop); }};
    EXPECT_TRUE(eventually([&] { return db().tickets() == 4; }) && sets_cease_to_insist());
    const stopwatch since;
    held.downgrade();
    const auto share = reader->get();
    const auto took = since.elapsed();
    set.stop();
    alone.stop();
    EXPECT_FALSE(set.get());
    EXPECT_FALSE(alone.get());
    return took;
  }));
}

// Whoever believes that it has the name: nobody alone beside others.
TEST_P(sharing, readers_and_writers_never_meet) {
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> visits{0};
  on_threads(8, [&](int t) {
    auto& from = t % 2 == 0 ? locks_ : other_;
    for (int i = 0; i < 12; ++i) {
      if (t < 6) {
        const auto held = from.acquire_shared(name);
        ++readers;
        EXPECT_EQ(writers, 0);
        --readers;
      } else {
        const auto held = from.acquire(name, with());
        EXPECT_EQ(++writers, 1);
        EXPECT_EQ(readers, 0);
        --writers;
      }
      ++visits;
    }
  });
  EXPECT_EQ(visits, 96);
  EXPECT_TRUE(are_no_rows_left());
}

}  // namespace
}  // namespace rowlock::test
