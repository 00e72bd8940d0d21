#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "server/server_test.hpp"
#include "support/test_thread.hpp"

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
  /// With a client of its own for each request of a call about the name: disturb(before) loses that one. At the end
  /// no client has the name or a share of it.
  template <class Scenario>
  void for_each_request(Scenario scenario) {
    for (int before = 0; before < most_requests; ++before) {
      SCOPED_TRACE("after " + std::to_string(before));
      auto locks = connect_through_proxy();
      scenario(locks, before);
      expect_not_shared();
    }
  }
  void expect_not_shared() {
    EXPECT_TRUE(eventually(
        soon, [&] { return other_.sharers("orders/42").empty() && other_.try_acquire("orders/42").has_value(); }));
    EXPECT_TRUE(eventually(soon, [&] { return db().shares() == 0; }));
  }

  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(lost_share, ways_to_lose_a_share);

TEST_P(lost_share, of_a_grant_is_adopted_or_undone) {
  other_.acquire("orders/42").release();
  for_each_request([&](client& locks, int before) {
    locks.check();
    disturb(before);
    std::optional<held_lock> held;
    const auto e = error_of([&] { held = locks.try_acquire_shared("orders/42", {.lease = long_lease}); });
    EXPECT_TRUE(is_done_unknown_or_retryable(e));
    if (!held) return;
    const auto all = other_.sharers("orders/42");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].token, held->token());
    EXPECT_FALSE(other_.try_acquire("orders/42"));
  });
}

TEST_P(lost_share, of_a_grant_to_several_readers_is_adopted_or_undone) {
  for_each_request([&](client& locks, int before) {
    auto writer = other_.acquire("orders/42");
    std::vector<std::unique_ptr<background<bool>>> readers;
    for (int i = 0; i < 5; ++i)
      readers.push_back(std::make_unique<background<bool>>([&](std::stop_token stop) {
        const auto held = locks.try_acquire_shared_for("orders/42", soon, {.lease = 1min}, std::move(stop));
        return held && !other_.try_acquire("orders/42");
      }));
    ASSERT_TRUE(eventually([&] { return db().tickets() == 5; }));
    disturb(before);
    writer.release();
    for (const auto& each : readers) {
      bool has_shared = false;
      const auto e = error_of([&] { return has_shared = each->get(); });
      EXPECT_TRUE(has_shared || (e && (e->outcome_is_unknown() || e->is_retryable())));
    }
  });
}

// Their requests travel together, those for one name and those for many.
TEST_P(lost_share, of_many_readers_at_once_is_adopted_or_undone) {
  std::mutex alone;
  std::set<std::pair<std::string, fencing_token>> tokens;
  for (const bool is_for_one : {true, false})
    for_each_request([&](client& locks, int before) {
      locks.check();
      disturb(3 * before);
      on_threads(20, [&](int i) {
        const auto name = is_for_one || i == 10 ? std::string{"orders/42"} : "job/" + std::to_string(i);
        for (int n = 0; n < 3; ++n) {
          std::optional<held_lock> held;
          EXPECT_TRUE(is_done_unknown_or_retryable(
              error_of([&] { held = locks.try_acquire_shared_for(name, soon, {.lease = long_lease}); })));
          if (!held) continue;
          EXPECT_FALSE(other_.try_acquire(name));
          {
            const std::lock_guard noting{alone};
            EXPECT_TRUE(tokens.emplace(name, held->token()).second) << "another reader has it, too";
          }
          EXPECT_TRUE(is_done_unknown_or_retryable(error_of([&] { held->release(); })));
        }
      });
    });
}

TEST_P(lost_share, of_a_release_leaves_nothing_behind_and_takes_nothing_from_others) {
  for_each_request([&](client& locks, int before) {
    const auto theirs = other_.acquire_shared("orders/42", {.lease = long_lease});
    auto held = locks.acquire_shared("orders/42", {.lease = long_lease});
    disturb(before);
    EXPECT_TRUE(is_done_unknown_or_retryable(error_of([&] { held.release(); })));
    EXPECT_TRUE(eventually(soon, [&] { return other_.sharers("orders/42").size() == 1; }));
    EXPECT_EQ(other_.find("orders/42").value().sharers, 1);
    EXPECT_FALSE(other_.try_acquire("orders/42"));
  });
}

TEST_P(lost_share, of_a_renewal_does_not_lose_it) {
  auto locks = connect_through_proxy();
  const auto held = locks.acquire_shared("orders/42", {.lease = 5s});
  disturb(0);
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  EXPECT_TRUE(eventually(soon, [&] { return other_.sharers("orders/42").at(0).expires_in > 4s; }));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_P(lost_share, of_one_or_all_of_several_names_is_adopted_or_undone) {
  const std::vector<lock_name> names{"orders/43", "orders/42"};
  for (const auto& each : names) other_.acquire(each).release();
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
        EXPECT_TRUE(eventually(soon, [&] { return other_.try_acquire(each).has_value(); })) << each;
    }
}

// It may be either then: nobody relies on it, and nothing is left behind.
TEST_P(lost_share, of_a_conversion_leaves_nothing_behind) {
  for (const bool is_upgrade : {true, false}) {
    SCOPED_TRACE(is_upgrade ? "an upgrade" : "a downgrade");
    for_each_request([&](client& locks, int before) {
      auto held = is_upgrade ? locks.acquire_shared("orders/42", {.lease = long_lease})
                             : locks.acquire("orders/42", {.lease = long_lease});
      disturb(before);
      const auto e = error_of([&] { return is_upgrade ? held.try_upgrade() : (held.downgrade(), true); });
      EXPECT_TRUE(is_done_unknown_or_retryable(e));
      EXPECT_TRUE(!e || !e->outcome_is_unknown() || held.why_lost() == loss_reason::unreachable);
      EXPECT_TRUE(e || !other_.try_acquire("orders/42"));
    });
  }
}

TEST_P(lost_share, of_reaping_is_made_up_for) {
  held_lock dead;  // until the end of a round, so that its own release does not stand in for the reaping
  for_each_request([&](client& locks, int before) {
    const auto living = other_.acquire_shared("orders/42", {.lease = long_lease});
    dead = other_.acquire_shared("orders/42", {.lease = long_lease, .renew = false});
    db().kill_share(dead.token().value(), 1s);
    semaphore two{locks, "orders/42", 2, {.lease = long_lease}};
    disturb(before);
    EXPECT_TRUE(is_done_unknown_or_retryable(error_of([&] { return two.try_acquire(); })));
    const auto has_one = [&] { return succeeds([&] { return two.try_acquire(); }); };
    EXPECT_TRUE(eventually(soon, has_one)) << "the first may meet the connection that is cut";
  });
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
