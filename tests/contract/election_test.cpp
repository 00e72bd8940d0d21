#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "contract/contract.hpp"
#include "support/slowness.hpp"
#include "support/takes_at_most.hpp"

namespace rowlock::test {
namespace {

constexpr auto* lead_of = "lead";

/// What an observer is told: each term; 0: nobody leads.
class told_terms {
 public:
  election::observer observer() {
    return [this](const std::optional<lock_info>& leader) {
      const std::lock_guard lock{mutex_};
      all_.push_back(leader ? leader->token.value() : 0);
    };
  }
  std::vector<std::int64_t> all() const {
    const std::lock_guard lock{mutex_};
    return all_;
  }
  /// Whether that is the last thing that is told.
  bool ends_with(std::int64_t term) const {
    return eventually([&] {
      const auto seen = all();
      return !seen.empty() && seen.back() == term;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::int64_t> all_;
};

/// A candidate whose work is to wait until it is told to end.
class idle_candidate {
 public:
  explicit idle_candidate(election& in)
      : leading_{[this, &in](std::stop_token stop) {
          return in.lead(std::move(stop), [this](const std::stop_token& told, const held_lock& lead) {
            term_ = lead.token().value();
            while (!told.stop_requested()) std::this_thread::sleep_for(1ms);
            ++ended_;
          });
        }} {}

  std::int64_t term() const { return term_; }
  int ended() const { return ended_; }
  /// Whether a term after that one begins.
  bool leads_after(std::int64_t term) const {
    return eventually([&] { return term_ > term; });
  }
  bool is_done_within(std::chrono::milliseconds time) { return leading_.is_done_within(time); }
  void stop() { leading_.stop(); }
  /// The result of election::lead().
  bool get() { return leading_.get(); }

 private:
  std::atomic<std::int64_t> term_{0};
  std::atomic<int> ended_{0};
  background<bool> leading_;
};

class electing_by_any_strategy : public two_clients {
 protected:
  static election_options brisk(lock_options options = {}) {
    return {.lock = with(std::move(options)), .look_every = 10ms};
  }
};
class electing : public electing_by_any_strategy {
 protected:
  bool is_waiting(std::size_t number = 1) {
    return eventually([&] { return locks_.waiters(lead_of).size() >= number; });
  }
  /// Of a candidate that began to wait after the one with that ticket; 0: none does.
  std::int64_t ticket_after(std::int64_t before) {
    std::int64_t out = 0;
    static_cast<void>(eventually([&] {
      for (const auto& each : locks_.waiters(lead_of))
        if (each.ticket > before) out = each.ticket;
      return out != 0;
    }));
    return out;
  }
  election mine_{locks_, lead_of, brisk()};
  election its_{other_, lead_of, brisk()};
};
ROWLOCK_CONTRACT_SUITE(electing, leases(any_pair()));
ROWLOCK_CONTRACT_SUITE(electing_by_any_strategy, any_pair());

// --- campaigns -------------------------------------------------------------------------------------------------------

TEST_P(electing, has_one_leader_at_a_time_and_terms_that_grow) {
  auto here = connect({.application = "here"});
  election mine{here, lead_of, brisk({.note = "first"})};
  EXPECT_EQ(mine.name(), lock_name{lead_of});
  EXPECT_FALSE(its_.leader().has_value());
  fencing_token last{};
  for (int i = 0; i < 3; ++i) {
    auto first = mine.campaign();
    EXPECT_GT(first.token(), last);
    EXPECT_FALSE(its_.try_campaign().has_value());
    EXPECT_TRUE(is_refused([&] { return its_.try_campaign_for(20ms); }));
    const auto seen = its_.leader().value();
    EXPECT_EQ(seen.token, first.token());
    EXPECT_EQ(seen.note, "first");
    EXPECT_EQ(seen.owner.substr(0, 5), "here:");
    EXPECT_GE(seen.held_for.value(), 0us);
    first.release();
    const auto second = its_.try_campaign();
    ASSERT_TRUE(second.has_value());
    EXPECT_GT(second->token(), seen.token);
    last = second->token();
  }
  EXPECT_FALSE(mine.leader().has_value());
}

TEST_P(electing, is_won_by_one_who_waits_as_soon_as_the_leader_resigns) {
  const auto takeover = [&] {
    auto first = mine_.campaign();
    background waiting{[&](std::stop_token stop) { return its_.campaign(std::move(stop)); }};
    EXPECT_TRUE(is_waiting());
    const stopwatch watch;
    first.release();
    const auto second = waiting.get();
    return watch.elapsed();
  };
  EXPECT_TRUE(takes_at_most(500ms * slowness, takeover));
}

TEST_P(electing, in_turn_is_won_by_who_began_to_wait_first) {
  election fair{locks_, lead_of, brisk({.fairness = fairness::fifo})};
  election fair_too{other_, lead_of, brisk({.fairness = fairness::fifo})};
  auto first = fair.campaign();
  background second{[&](std::stop_token stop) { return fair_too.campaign(std::move(stop)); }};
  EXPECT_TRUE(is_waiting());
  background third{[&](std::stop_token stop) { return fair.campaign(std::move(stop)); }};
  EXPECT_TRUE(is_waiting(2));
  first.release();
  auto lead = second.get();
  EXPECT_FALSE(third.is_done_within(a_moment));
  lead.release();
  EXPECT_GT(third.get().token(), fencing_token{});
}

// The row of a lease that is handed over shows its first holder, and no later token.
TEST_P(electing, shows_each_leader_also_of_one_client) {
  auto here = connect({.handover_limit = 10s});
  election mine{here, lead_of, brisk()};
  election looks{other_, lead_of, brisk()};
  auto first = mine.campaign();
  background waiting{[&](std::stop_token stop) { return mine.campaign(std::move(stop)); }};
  EXPECT_FALSE(waiting.is_done_within(a_moment));
  first.release();
  const auto second = waiting.get();
  EXPECT_EQ(looks.leader().value().token, second.token());
  EXPECT_EQ(here.stats().handovers, 0U);
}

// --- lead() ----------------------------------------------------------------------------------------------------------

TEST_P(electing, ends_the_work_of_one_who_lost_the_lead_and_lets_him_campaign_again) {
  election mine{locks_, lead_of, brisk({.lease = 3s})};
  idle_candidate leader{mine};
  ASSERT_TRUE(leader.leads_after(0));
  const auto first = leader.term();
  EXPECT_TRUE(other_.force_release(lead_of));
  EXPECT_TRUE(leader.leads_after(first));
  EXPECT_EQ(leader.ended(), 1);
  EXPECT_EQ(other_.find(lead_of).value().token.value(), leader.term());
  leader.stop();
  EXPECT_FALSE(leader.get()) << "it was stopped";
  EXPECT_EQ(leader.ended(), 2);
}

TEST_P(electing, ends_at_once_when_it_is_stopped_and_hands_over) {
  idle_candidate leader{mine_};
  ASSERT_TRUE(leader.leads_after(0));
  idle_candidate stands_by{its_};
  EXPECT_TRUE(is_waiting());
  const stopwatch watch;
  leader.stop();
  EXPECT_FALSE(leader.get());
  EXPECT_TRUE(stands_by.leads_after(leader.term()));
  EXPECT_LE(watch.elapsed(), slack());
  EXPECT_EQ(leader.ended(), 1);

  idle_candidate waits{mine_};
  EXPECT_TRUE(is_waiting());
  waits.stop();
  EXPECT_FALSE(waits.get());
  EXPECT_EQ(waits.ended(), 0) << "it did not lead";
}

TEST_P(electing, is_over_when_the_work_returns_and_goes_on_if_the_lead_was_lost_before) {
  int calls = 0;
  EXPECT_TRUE(mine_.lead({}, [&](const std::stop_token& told, const held_lock& lead) {
    EXPECT_FALSE(told.stop_requested());
    EXPECT_EQ(mine_.leader().value().token, lead.token());
    if (++calls > 1) return;
    db().steal(lead_of);
    db().vacate(lead_of);
  }));
  EXPECT_EQ(calls, 2) << "the work may have overlapped with another leader's";
  EXPECT_FALSE(mine_.leader().has_value());
}

TEST_P(electing, passes_on_what_the_work_throws_and_resigns) {
  EXPECT_THROW(mine_.lead({}, [](const std::stop_token&, const held_lock&) { throw std::domain_error{"of the work"}; }),
               std::domain_error);
  EXPECT_FALSE(mine_.leader().has_value());
  EXPECT_TRUE(throws(errc::lock_lost, [&] {
    mine_.lead({}, [](const std::stop_token&, const held_lock&) {
      throw error{errc::lock_lost, "of another lock: nobody has told this work to end"};
    });
  }));
  std::stop_source stop;
  EXPECT_FALSE(mine_.lead(stop.get_token(), [&](const std::stop_token& told, const held_lock&) {
    auto other = mine_.try_campaign();
    EXPECT_FALSE(other.has_value());
    stop.request_stop();
    static_cast<void>(mine_.campaign(told));  // is cancelled
  }));
}

TEST_P(electing, is_lost_when_the_client_is_closed) {
  told_terms told;
  auto looking = mine_.observe(told.observer());
  idle_candidate leader{mine_};
  ASSERT_TRUE(leader.leads_after(0));
  locks_.close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { leader.get(); }));
  EXPECT_EQ(leader.ended(), 1);
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(mine_.leader()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { looking = mine_.observe(told.observer()); }));
  looking.stop();
}

TEST_P(electing, resigns_in_favour_of_those_who_wait) {
  idle_candidate mine{mine_};
  ASSERT_TRUE(mine.leads_after(0));
  const idle_candidate its{its_};
  const auto its_ticket = ticket_after(0);
  ASSERT_NE(its_ticket, 0);
  mine_.resign();
  ASSERT_TRUE(its.leads_after(mine.term()));
  const auto my_ticket = ticket_after(its_ticket);
  ASSERT_NE(my_ticket, 0) << "it campaigns again";
  EXPECT_FALSE(mine.is_done_within(a_moment));
  mine_.resign();
  ASSERT_NE(ticket_after(my_ticket), 0) << "a candidate that waits begins to wait anew";
  its_.resign();
  EXPECT_TRUE(mine.leads_after(its.term()));
  EXPECT_EQ(mine.ended(), 1);
}

// --- observers -------------------------------------------------------------------------------------------------------

TEST_P(electing, tells_observers_of_each_change_in_order) {
  told_terms told;
  const auto looking = its_.observe(told.observer());
  ASSERT_TRUE(told.ends_with(0));
  std::vector<std::int64_t> expected{0};
  for (auto* each : {&mine_, &its_, &mine_}) {
    auto lead = each->campaign();
    const auto term = lead.token().value();
    ASSERT_TRUE(told.ends_with(term));
    lead.release();
    ASSERT_TRUE(told.ends_with(0));
    expected.insert(expected.end(), {term, 0});
  }
  EXPECT_EQ(told.all(), expected);
}

TEST_P(electing, tells_observers_the_last_state_however_fast_leaders_change) {
  told_terms told;
  const auto looking = its_.observe(told.observer());
  for (int i = 0; i < 50; ++i) static_cast<void>((i % 2 == 0 ? mine_ : its_).campaign().token());
  const auto last = mine_.campaign();
  ASSERT_TRUE(told.ends_with(last.token().value()));
  auto terms = told.all();
  std::erase(terms, 0);
  EXPECT_TRUE(std::is_sorted(terms.begin(), terms.end()));
}

TEST_P(electing, observes_until_it_is_told_to_stop) {
  told_terms told;
  auto looking = mine_.observe(told.observer());
  ASSERT_TRUE(told.ends_with(0));
  auto moved = std::move(looking);
  moved.stop();
  const auto lead = mine_.campaign();
  // It observes nothing, and that is no error.
  looking.stop();  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_EQ(told.all(), std::vector<std::int64_t>{0});

  std::atomic<int> calls{0};
  std::atomic<bool> is_there{false};
  std::atomic<bool> has_stopped{false};
  std::optional<election::observation> by_itself;
  by_itself.emplace(mine_.observe([&](const std::optional<lock_info>&) {
    if (calls++ == 0) throw std::domain_error{"which nobody hears"};
    EXPECT_TRUE(is_there);
    by_itself->stop();
    has_stopped = true;
  }));
  is_there = true;
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  EXPECT_TRUE(locks_.force_release(lead_of));
  ASSERT_TRUE(eventually([&] { return has_stopped.load(); }));
  const auto again = mine_.campaign();
  by_itself.reset();
  EXPECT_EQ(calls, 2);
}

TEST_P(electing, observes_on_when_the_database_has_refused_a_look) {
  const recorder heard;
  auto here = connect({.observer = heard.observer()});
  election mine{here, lead_of, brisk()};
  told_terms told;
  const auto looking = mine.observe(told.observer());
  ASSERT_TRUE(told.ends_with(0));
  db().drop_tables();
  ASSERT_TRUE(eventually([&] { return !heard.all<events::failed>().empty(); }));
  here.migrate();
  const auto lead = mine.campaign();
  EXPECT_TRUE(told.ends_with(lead.token().value()));
}

// --- what it refuses -------------------------------------------------------------------------------------------------

TEST_P(electing_by_any_strategy, takes_only_what_can_be_an_election) {
  const auto make = [&](election_options options) { const election made{locks_, lead_of, std::move(options)}; };
  EXPECT_EQ(error_of([&] { return make(brisk()), true; }).has_value(), !GetParam().has_lease);
  EXPECT_TRUE(throws(errc::unsupported, [&] { make({.lock = {.strategy = strategy::for_update}}); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { make({.lock = {.as = holder::named("me")}}); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { make({.lock = {.lease = 1ms}}); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { make({.look_every = 9ms}); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { make({.look_every = 25h}); }));
}

TEST_P(electing_by_any_strategy, sees_no_leader_in_a_transaction_nor_in_those_who_share) {
  election mine{locks_, lead_of};
  if (!GetParam().has_lease) {
    const auto held = locks_.acquire(lead_of, with());
    EXPECT_FALSE(mine.try_campaign().has_value());
    EXPECT_FALSE(mine.leader().has_value());
  }
  const auto shared = connect().acquire_shared("shared");
  EXPECT_FALSE((election{locks_, "shared"}.leader().has_value()));
}

}  // namespace
}  // namespace rowlock::test
