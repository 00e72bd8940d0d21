#include <atomic>
#include <future>
#include <mutex>
#include <set>

#include "server/server_test.hpp"

// What is lost on its way between those who share a name and the server: of each grant, release, renewal and reaping,
// one request after the other.

namespace rowlock::test {
namespace {

struct way_to_lose_a_share {
  const char* name;
  tcp_proxy::action how;
};

std::ostream& operator<<(std::ostream& out, const way_to_lose_a_share& f) { return out << f.name; }

constexpr way_to_lose_a_share ways_to_lose_a_share[] = {{"cut_before", tcp_proxy::action::cut_before},
                                                        {"cut_after", tcp_proxy::action::cut_after},
                                                        {"black_hole_after", tcp_proxy::action::black_hole_after}};

class lost_share : public on_each_with<proxy_test, way_to_lose_a_share> {
 protected:
  static constexpr int most_requests = 5;  // about a name, of one call

  /// The one that comes behind so many others about the name.
  void disturb(int before) {
    on_request([is_about = about("orders/42"),
                left = before](std::string_view request) mutable { return is_about(request) && left-- == 0; },
               what().how);
  }
  bool nobody_shares_it(client& locks) {
    return eventually(soon, [&] { return locks.sharers("orders/42").empty() && locks.try_acquire("orders/42"); }) &&
           db().shares() == 0;
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(lost_share, ways_to_lose_a_share);

TEST_P(lost_share, of_a_grant_is_adopted_or_undone) {
  auto other = connect();
  other.acquire("orders/42").release();
  for (int before = 0; before < most_requests; ++before) {
    auto locks = connect_through_proxy();
    locks.check();
    disturb(before);
    std::optional<held_lock> held;
    const auto e = error_of([&] { held = locks.try_acquire_shared("orders/42", {.lease = long_lease}); });
    EXPECT_TRUE(is_done_unknown_or_retryable(e));
    if (held) {
      const auto all = other.sharers("orders/42");
      ASSERT_EQ(all.size(), 1U) << "after " << before;
      EXPECT_EQ(all[0].token, held->token());
      EXPECT_FALSE(other.try_acquire("orders/42"));
    }
    held.reset();
    EXPECT_TRUE(nobody_shares_it(other)) << "after " << before;
  }
}

TEST_P(lost_share, of_a_grant_to_several_readers_is_adopted_or_undone) {
  auto other = connect();
  for (int before = 0; before < most_requests; ++before) {
    auto locks = connect_through_proxy();
    auto writer = other.acquire("orders/42");
    std::vector<std::unique_ptr<background<bool>>> readers;
    for (int i = 0; i < 5; ++i)
      readers.push_back(std::make_unique<background<bool>>([&](std::stop_token stop) {
        const auto held = locks.try_acquire_shared_for("orders/42", soon, {.lease = 1min}, std::move(stop));
        return held && !other.try_acquire("orders/42");
      }));
    ASSERT_TRUE(eventually([&] { return db().tickets() == 5; }));
    disturb(before);
    writer.release();
    for (const auto& each : readers) {
      bool has_shared = false;
      const auto e = error_of([&] { return has_shared = each->get(); });
      EXPECT_TRUE(has_shared || (e && (e->outcome_is_unknown() || e->is_retryable()))) << "after " << before;
    }
    EXPECT_TRUE(nobody_shares_it(other)) << "after " << before;
  }
}

// Their requests travel together.
TEST_P(lost_share, of_many_readers_at_once_is_adopted_or_undone) {
  auto other = connect();
  std::mutex alone;
  std::set<fencing_token> tokens;
  for (int before = 0; before < 3 * most_requests; before += 3) {
    auto locks = connect_through_proxy();
    locks.check();
    disturb(before);
    std::vector<std::future<void>> readers;
    for (int i = 0; i < 20; ++i)
      readers.push_back(std::async(std::launch::async, [&] {
        for (int n = 0; n < 3; ++n) {
          std::optional<held_lock> held;
          EXPECT_TRUE(is_done_unknown_or_retryable(
              error_of([&] { held = locks.try_acquire_shared_for("orders/42", soon, {.lease = long_lease}); })));
          if (!held) continue;
          EXPECT_FALSE(other.try_acquire("orders/42"));
          {
            const std::lock_guard noting{alone};
            EXPECT_TRUE(tokens.insert(held->token()).second) << "another reader has it, too";
          }
          EXPECT_TRUE(is_done_unknown_or_retryable(error_of([&] { held->release(); })));
        }
      }));
    for (auto& each : readers) each.get();
    EXPECT_TRUE(nobody_shares_it(other)) << "after " << before;
  }
}

TEST_P(lost_share, of_a_release_leaves_nothing_behind_and_takes_nothing_from_others) {
  auto other = connect();
  for (int before = 0; before < most_requests; ++before) {
    auto locks = connect_through_proxy();
    auto theirs = other.acquire_shared("orders/42", {.lease = long_lease});
    auto held = locks.acquire_shared("orders/42", {.lease = long_lease});
    disturb(before);
    const auto e = error_of([&] { held.release(); });
    EXPECT_TRUE(is_done_unknown_or_retryable(e));
    EXPECT_TRUE(eventually(soon, [&] { return other.sharers("orders/42").size() == 1; })) << "after " << before;
    EXPECT_EQ(other.find("orders/42").value().sharers, 1);
    EXPECT_FALSE(other.try_acquire("orders/42"));
    theirs.release();
    EXPECT_TRUE(nobody_shares_it(other)) << "after " << before;
  }
}

TEST_P(lost_share, of_a_renewal_does_not_lose_it) {
  auto locks = connect_through_proxy();
  auto other = connect();
  const auto held = locks.acquire_shared("orders/42", {.lease = 5s});
  disturb(0);
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  EXPECT_TRUE(eventually(soon, [&] { return other.sharers("orders/42").at(0).expires_in > 4s; }));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_P(lost_share, of_one_or_all_of_several_names_is_adopted_or_undone) {
  auto other = connect();
  const std::vector<lock_name> names{"orders/43", "orders/42"};
  for (const auto& each : names) other.acquire(each).release();
  for (const bool wants_all : {false, true})
    for (int before = 0; before < 3 + (wants_all ? 1 : 0); ++before) {
      SCOPED_TRACE(std::to_string(before) + (wants_all ? " of all" : " of any"));
      auto locks = connect_through_proxy();
      locks.check();
      disturb(before);
      std::optional<held_lock> one;
      std::optional<held_set> all;
      EXPECT_TRUE(is_done_unknown_or_retryable(error_of([&] {
        if (wants_all) all = locks.try_acquire_all(names, {.lease = long_lease, .fairness = fairness::fifo});
        if (!wants_all) one = locks.try_acquire_any(names, {.lease = long_lease});
      })));
      if (one) {
        EXPECT_TRUE(is_held_by(one->name().view(), *one));
      }
      if (all) {
        for (const auto& each : all->locks()) EXPECT_TRUE(is_held_by(each.name().view(), each));
      }
      one.reset();
      all.reset();
      for (const auto& each : names)
        EXPECT_TRUE(eventually(soon, [&] { return other.try_acquire(each).has_value(); })) << each;
    }
}

// It may be either then: nobody relies on it, and nothing is left behind.
TEST_P(lost_share, of_a_conversion_leaves_nothing_behind) {
  auto other = connect();
  for (const bool is_upgrade : {true, false})
    for (int before = 0; before < most_requests; ++before) {
      auto locks = connect_through_proxy();
      auto held = is_upgrade ? locks.acquire_shared("orders/42", {.lease = long_lease})
                             : locks.acquire("orders/42", {.lease = long_lease});
      disturb(before);
      const auto e = error_of([&] { return is_upgrade ? held.try_upgrade() : (held.downgrade(), true); });
      EXPECT_TRUE(is_done_unknown_or_retryable(e));
      EXPECT_TRUE(!e || !e->outcome_is_unknown() || held.why_lost() == loss_reason::unreachable);
      if (!e) {
        EXPECT_FALSE(other.try_acquire("orders/42"));
      }
      held = {};
      EXPECT_TRUE(nobody_shares_it(other)) << "after " << before << (is_upgrade ? " of an upgrade" : " of a downgrade");
    }
}

TEST_P(lost_share, of_reaping_is_made_up_for) {
  auto other = connect();
  for (int before = 0; before < most_requests; ++before) {
    auto living = other.acquire_shared("orders/42", {.lease = long_lease});
    auto dead = other.acquire_shared("orders/42", {.lease = long_lease, .renew = false});
    db().kill_share(dead.token().value(), 1s);
    auto locks = connect_through_proxy();
    semaphore two{locks, "orders/42", 2, {.lease = long_lease}};
    disturb(before);
    std::optional<held_lock> held;
    const auto e = error_of([&] { held = two.try_acquire(); });
    EXPECT_TRUE(is_done_unknown_or_retryable(e));
    held.reset();
    const auto has_one = [&] {
      bool out = false;
      error_of([&] { return out = two.try_acquire().has_value(); });  // the first may meet the connection that is cut
      return out;
    };
    EXPECT_TRUE(eventually(soon, has_one)) << "after " << before;
    living.release();
    EXPECT_TRUE(nobody_shares_it(other)) << "after " << before;
  }
}

class shared_rows : public on_each_server {};
ROWLOCK_SUITE_ON_EACH_SERVER(shared_rows);

// Each change of the row and of the shares is one transaction. So a look in one statement, between any two statements
// of the others, finds as many permits in the row as its shares have; a look in two statements need not.
TEST_P(shared_rows, have_as_many_permits_as_their_shares_at_every_look) {
  const std::string differing =
      "SELECT count(*) FROM rowlock_lock l WHERE l.owner = '(shared)' AND l.sharers <> (SELECT "
      "coalesce(sum(s.permits), "
      "0) FROM rowlock_share s WHERE s.name = l.name AND s.since = l.acquisition)";
  auto locks = connect();
  auto other = connect();
  std::atomic<int> working{6};
  std::vector<std::unique_ptr<background<bool>>> all;
  for (int t = 0; t < 6; ++t)
    all.push_back(std::make_unique<background<bool>>([&, t](const std::stop_token& stop) {
      auto& from = t % 2 == 0 ? locks : other;
      semaphore some{from, "orders/42", 5, {.lease = t == 0 ? 100ms : long_lease, .renew = t != 0}};
      for (int i = 0; i < 40 && !stop.stop_requested(); ++i) {
        auto held = some.acquire(1 + i % 3, stop);
        if (t == 0) {
          EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));  // and is taken off by others
          held = {};
        } else if (held.try_upgrade()) {
          held.downgrade();
        }
      }
      --working;
      return true;
    }));
  int looks = 0;
  for (; working > 0; ++looks) ASSERT_EQ(db().number(differing), 0) << "at look " << looks;
  for (const auto& each : all) EXPECT_TRUE(each->get());
  EXPECT_GT(looks, 40);
}

}  // namespace
}  // namespace rowlock::test
