#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/databases.hpp"
#include "support/happening.hpp"
#include "support/room.hpp"
#include "support/slowness.hpp"
#include "support/takes_at_most.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

/// Which databases a quorum is made of: five of these, in turn.
struct mixture {
  std::string name;
  std::vector<database_kind> kinds;
};

std::ostream& operator<<(std::ostream& out, const mixture& m) { return out << m.name; }

std::vector<mixture> mixtures() {
  std::vector<mixture> out;
  for (const auto& kind : databases())
    if (is_full_tier() || kind.name == "sqlite") out.push_back({std::string{kind.name}, {kind}});
  if (databases().size() > 1) out.push_back({"mysql_and_others", databases()});
  return out;
}

/// A client of each of the five, as one program has them.
class program {
 public:
  explicit program(const std::vector<std::unique_ptr<database>>& places, const client_options& options = {}) {
    for (const auto& each : places) clients_.emplace_back(connect_patiently(each->url(), options));
  }
  std::vector<std::reference_wrapper<rowlock::client>> clients() { return {clients_.begin(), clients_.end()}; }
  client& at(std::size_t database) { return clients_.at(database); }

 private:
  std::vector<client> clients_;
};

class quorum_of_five : public testing::TestWithParam<mixture> {
 protected:
  static constexpr auto short_call = 1s;

  using places = std::vector<std::unique_ptr<database>>;
  using obstacles = std::vector<std::unique_ptr<obstacle>>;

  static places open_five() {
    const auto& kinds = GetParam().kinds;
    places out;
    for (std::size_t i = 0; i < 5; ++i) {
      out.push_back(kinds.at(i % kinds.size()).open());
      connect_patiently(out.back()->url()).migrate();
    }
    return out;
  }
  obstacles stall(std::initializer_list<std::size_t> these) {
    obstacles out;
    for (const auto each : these) out.push_back(place(each).stall());
    return out;
  }
  database& place(std::size_t which) { return *places_.at(which); }
  static bool has_all(const held_quorum& held) {
    return eventually([&] { return held.members().size() == 5; });
  }
  static held_quorum acquired_in_all(quorum_lock& by) {
    auto out = by.acquire();
    EXPECT_TRUE(has_all(out));
    return out;
  }
  /// Whether our call to that database is under way.
  bool is_asked(std::size_t which) { return locks_->at(which).stats().waiting > 0; }
  bool are_free(std::initializer_list<std::size_t> these) {
    return std::ranges::all_of(
        these, [&](std::size_t each) { return eventually([&] { return !other_->at(each).find("job"); }); });
  }

  const places places_ = open_five();
  std::optional<program> locks_{places_};
  std::optional<program> other_{places_};
  quorum_lock ours_{locks_->clients(), "job"};
  quorum_lock theirs_{other_->clients(), "job"};
};
INSTANTIATE_TEST_SUITE_P(of, quorum_of_five, testing::ValuesIn(mixtures()),
                         [](const testing::TestParamInfo<mixture>& of) { return of.param.name; });

TEST_P(quorum_of_five, is_had_by_one_and_by_another_when_it_is_released) {
  EXPECT_EQ(ours_.majority(), 3U);
  EXPECT_EQ(ours_.name().view(), "job");
  auto held = ours_.acquire();
  ASSERT_TRUE(held);
  EXPECT_EQ(held.name().view(), "job");
  EXPECT_EQ(held.majority(), 3U);
  EXPECT_GE(held.members().size(), 3U);
  EXPECT_TRUE(has_all(held)) << "the others join";
  for (const auto& each : held.members())
    EXPECT_EQ(each.token.value(), place(each.database).row("job").value().version);
  EXPECT_GT(held.expires_in(), 20s);
  EXPECT_LE(held.expires_in(), 27s) << "the lease less its margin";
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(held.why_lost(), loss_reason::none);
  EXPECT_FALSE(theirs_.try_acquire());
  EXPECT_FALSE(ours_.try_acquire()) << "each call is a holder of its own";
  held.release();
  EXPECT_FALSE(held);
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  const auto next = theirs_.try_acquire();
  ASSERT_TRUE(next) << "at once";
  EXPECT_FALSE(ours_.try_acquire());
}

TEST_P(quorum_of_five, an_empty_handle_says_so) {
  const held_quorum none;
  EXPECT_FALSE(none);
  EXPECT_TRUE(none.lost().stop_requested());
  EXPECT_EQ(none.why_lost(), loss_reason::none);
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(none.name()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(none.majority()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(none.members()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(none.expires_in()); }));
}

TEST_P(quorum_of_five, moves_and_releases_what_it_had) {
  quorum_lock job{locks_->clients(), "job"};
  quorum_lock task{locks_->clients(), "task"};
  auto held = job.acquire();
  held = task.acquire();
  EXPECT_TRUE(job.try_acquire());
  EXPECT_FALSE(task.try_acquire());
  held_quorum moved{std::move(held)};
  EXPECT_EQ(moved.name().view(), "task");
}

TEST_P(quorum_of_five, a_minority_is_let_go_of) {
  const auto a = other_->at(0).acquire("job");
  const auto b = other_->at(2).acquire("job");
  {
    const auto held = ours_.try_acquire();
    ASSERT_TRUE(held) << "two of five refuse";
    EXPECT_EQ(held->members().size(), 3U);
  }
  const auto c = other_->at(4).acquire("job");
  EXPECT_FALSE(ours_.try_acquire());
  EXPECT_TRUE(are_free({1, 3}));
}

TEST_P(quorum_of_five, is_had_without_two_that_are_gone) {
  place(1).drop_tables();
  place(3).drop_tables();
  for (int i = 0; i < 3; ++i) {
    auto held = ours_.try_acquire();
    ASSERT_TRUE(held) << i;
    EXPECT_EQ(held->members().size(), 3U);
    EXPECT_FALSE(theirs_.try_acquire());
    held->release();
    const auto next = theirs_.try_acquire();
    EXPECT_TRUE(next) << i;
  }
}

TEST_P(quorum_of_five, is_an_error_without_three) {
  for (const std::size_t each : {0U, 2U, 4U}) place(each).drop_tables();
  for (const auto& call : {std::function{[&] { return ours_.try_acquire().has_value(); }},
                           std::function{[&] { return ours_.try_acquire_for(1h).has_value(); }},
                           std::function{[&] { return static_cast<bool>(ours_.acquire()); }}}) {
    const auto e = error_of(call);
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), errc::schema_missing) << e->what();
    EXPECT_TRUE(mentions(e, "of 5 databases answered")) << e->what();
    EXPECT_TRUE(mentions(e, "a majority is 3")) << e->what();
  }
  EXPECT_TRUE(are_free({1, 3}));
}

// Errors of two, and one that refuses: nobody can have a majority, but the databases can be relied on.
TEST_P(quorum_of_five, is_busy_where_errors_alone_do_not_make_it_impossible) {
  place(0).drop_tables();
  place(1).drop_tables();
  const auto taken = other_->at(2).acquire("job");
  EXPECT_FALSE(ours_.try_acquire());
}

TEST_P(quorum_of_five, one_that_hangs_delays_nobody_and_joins_later) {
  auto in_the_way = stall({0, 4});
  stopwatch watch;
  auto held = ours_.acquire();
  EXPECT_EQ(held.members().size(), 3U);
  held.release();
  held = ours_.acquire();
  EXPECT_LT(watch.elapsed(), slack()) << "much less than call_timeout";
  in_the_way.clear();
  EXPECT_TRUE(has_all(held));
  in_the_way = stall({0, 4});
  const stopwatch releasing;
  EXPECT_NO_THROW(held.release()) << "a majority is enough";
  EXPECT_LT(releasing.elapsed(), slack()) << "two of its members do not answer";
}

// Two have joined later, and so have more time left.
TEST_P(quorum_of_five, has_the_time_of_the_third_longest_of_its_members) {
  quorum_lock ours{locks_->clients(), "job", {.lease = 1min, .renew = false}};
  held_quorum held;
  const auto all_join = [&] {
    auto in_the_way = stall({0, 4});
    held = held_quorum{};
    held = ours.acquire();
    const auto first = held.expires_in();
    EXPECT_TRUE(eventually([&] { return held.expires_in() < first - a_moment; }));
    in_the_way.clear();
    return eventually(slack(), [&] { return held.members().size() == 5; });
  };
  ASSERT_TRUE(eventually(all_join)) << "one that was in the way for too long has failed";
  const auto descending = [&] {
    std::vector<duration> out;
    for (const auto& each : held.members()) out.push_back(each.expires_in);
    std::sort(out.begin(), out.end(), std::greater{});
    return out;
  };
  const auto before = descending();
  const auto left = held.expires_in();
  EXPECT_LE(left, before.at(2));
  EXPECT_GE(left, descending().at(2));
  EXPECT_LT(left, before.at(0)) << "which joined later";
}

TEST_P(quorum_of_five, what_comes_after_the_release_is_released) {
  auto in_the_way = place(2).stall();
  auto held = ours_.acquire();
  ASSERT_TRUE(eventually([&] { return is_asked(2); }));
  held.release();
  in_the_way.reset();
  EXPECT_TRUE(eventually([&] { return place(2).row("job").has_value(); }));
  EXPECT_TRUE(are_free({2}));
}

TEST_P(quorum_of_five, three_that_hang_cost_their_limit_once) {
  program impatient{places_, {.call_timeout = short_call}};
  quorum_lock ours{impatient.clients(), "job"};
  auto in_the_way = stall({0, 1, 2});
  EXPECT_TRUE(takes_at_most(2 * short_call, [&] {
    const stopwatch watch;
    const auto e = error_of([&] { return ours.try_acquire().has_value(); });
    EXPECT_TRUE(e && e->is_retryable()) << (e ? e->what() : "it has a majority?");
    return watch.elapsed();
  })) << "each in turn would take three times the limit of a call";
}

TEST_P(quorum_of_five, a_wait_survives_databases_that_are_away) {
  program impatient{places_, {.call_timeout = 200ms}};
  quorum_lock ours{impatient.clients(), "job"};
  auto in_the_way = stall({0, 1, 2});
  background waiter{[&](std::stop_token stop) { return ours.acquire(std::move(stop)); }};
  EXPECT_FALSE(waiter.is_done_within(500ms));
  in_the_way.clear();
  EXPECT_TRUE(waiter.get());
}

TEST_P(quorum_of_five, a_wait_that_no_majority_answered_is_an_error) {
  ours_.acquire().release();  // connects
  auto in_the_way = stall({0, 1, 2});
  const stopwatch watch;
  const auto e = error_of([&] { return ours_.try_acquire_for(100ms).has_value(); });
  EXPECT_LT(watch.elapsed(), 500ms + slack());
  ASSERT_TRUE(e);
  EXPECT_EQ(e->code(), errc::call_timed_out) << e->what();
  EXPECT_TRUE(mentions(e, "only 2 of 5")) << e->what();
}

TEST_P(quorum_of_five, a_wait_ends_in_time_or_when_it_is_stopped_or_with_the_release) {
  theirs_.acquire().release();  // connects
  auto held = ours_.acquire();
  const stopwatch watch;
  EXPECT_FALSE(theirs_.try_acquire_for(150ms));
  EXPECT_GE(watch.elapsed(), 150ms);
  EXPECT_LT(watch.elapsed(), 650ms + slack());
  background stopped{[&](const std::stop_token& stop) {
    EXPECT_FALSE(theirs_.try_acquire_for(1h, stop));
    return error_of([&] { return static_cast<bool>(theirs_.acquire(stop)); });
  }};
  EXPECT_FALSE(stopped.is_done_within(a_moment));
  stopped.stop();
  EXPECT_EQ(stopped.get()->code(), errc::cancelled);
  background waiter{[&](std::stop_token stop) { return theirs_.acquire(std::move(stop)); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  held.release();
  EXPECT_TRUE(waiter.get());
}

TEST_P(quorum_of_five, is_lost_with_the_third_of_its_members) {
  quorum_lock ours{locks_->clients(), "job", {.lease = brisk_lease}};
  auto held = acquired_in_all(ours);
  happening lost;
  const std::stop_callback told{held.lost(), [&] { lost.happens(); }};
  place(0).steal("job");
  place(4).steal("job");
  EXPECT_TRUE(eventually([&] { return held.members().size() == 3; })) << "at the next renewal";
  EXPECT_EQ(held.members().front().database, 1U);
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_GT(held.expires_in(), 0s);
  place(2).steal("job");
  EXPECT_TRUE(lost.within());
  EXPECT_TRUE(held.lost().stop_requested());
  EXPECT_TRUE(held.why_lost() == loss_reason::forced || held.why_lost() == loss_reason::taken_over);
  EXPECT_TRUE(held.members().empty());
  EXPECT_EQ(held.expires_in(), 0s);
  EXPECT_TRUE(held);
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_TRUE(are_free({1, 3})) << "what was left of it is released";
}

TEST_P(quorum_of_five, is_lost_before_its_time_is_over_when_a_third_is_away) {
  quorum_lock ours{locks_->clients(), "job", {.lease = brisk_lease}};
  auto held = acquired_in_all(ours);
  auto in_the_way = stall({0, 1});
  EXPECT_TRUE(eventually([&] { return held.members().size() == 3; }));
  EXPECT_FALSE(held.lost().stop_requested());
  in_the_way.push_back(place(2).stall());
  auto end = std::chrono::steady_clock::now() + held.expires_in();
  EXPECT_TRUE(eventually([&] {
    const auto now = std::chrono::steady_clock::now();
    if (held.lost().stop_requested()) return true;
    end = now + held.expires_in();
    return false;
  }));
  EXPECT_LT(std::chrono::steady_clock::now(), end + slack());
  EXPECT_EQ(held.why_lost(), loss_reason::unreachable);
}

TEST_P(quorum_of_five, a_loss_is_not_taken_back_by_what_comes_later) {
  auto in_the_way = stall({0, 1});
  const auto held = ours_.acquire();
  EXPECT_EQ(held.members().size(), 3U);
  ASSERT_TRUE(eventually([&] { return is_asked(0) && is_asked(1); }));
  locks_->at(2).close();
  EXPECT_TRUE(held.lost().stop_requested());
  in_the_way.clear();
  EXPECT_TRUE(eventually([&] { return place(0).row("job") && place(1).row("job"); }));
  EXPECT_TRUE(are_free({0, 1}));
  EXPECT_NE(held.why_lost(), loss_reason::none);
  EXPECT_TRUE(held.members().empty());
}

TEST_P(quorum_of_five, is_lost_when_nobody_renews_it) {
  quorum_lock ours{locks_->clients(), "job", {.lease = 1s, .renew = false}};
  const auto held = ours.acquire();
  EXPECT_LE(held.expires_in(), 900ms);
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::expired);
  EXPECT_TRUE(theirs_.try_acquire_for(patience));
}

TEST_P(quorum_of_five, is_lost_when_clients_close) {
  auto held = acquired_in_all(ours_);
  locks_->at(0).close();
  locks_->at(1).close();
  EXPECT_FALSE(held.lost().stop_requested());
  locks_->at(2).close();
  EXPECT_TRUE(held.lost().stop_requested());
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(ours_.acquire()); }));
}

// The callback is run on a thread of the library's, which must not wait for itself.
TEST_P(quorum_of_five, a_callback_may_end_everything) {
  auto ours = std::make_unique<quorum_lock>(locks_->clients(), "job", lock_options{.lease = brisk_lease});
  std::optional<held_quorum> held{acquired_in_all(*ours)};
  happening done;
  const std::stop_callback told{held->lost(), [&] {
                                  held.reset();
                                  ours.reset();
                                  done.happens();
                                }};
  for (const std::size_t each : {0U, 2U, 4U}) place(each).steal("job");
  EXPECT_TRUE(done.within());
  EXPECT_TRUE(are_free({1, 3}));
}

TEST_P(quorum_of_five, a_callback_that_lasts_does_not_hold_up_the_release) {
  quorum_lock ours{locks_->clients(), "job", {.lease = brisk_lease}};
  auto held = acquired_in_all(ours);
  happening begun;
  happening enough;
  const std::stop_callback told{held.lost(), [&] {
                                  begun.happens();
                                  EXPECT_TRUE(enough.within());
                                }};
  for (const std::size_t each : {0U, 2U, 4U}) place(each).steal("job");
  EXPECT_TRUE(begun.within());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  enough.happens();
}

TEST_P(quorum_of_five, a_handle_may_outlive_its_lock_and_its_clients) {
  held_quorum held;
  {
    quorum_lock ours{locks_->clients(), "job"};
    held = acquired_in_all(ours);
  }
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(theirs_.try_acquire());
  held.release();
  held = theirs_.acquire();
  locks_.reset();
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(quorum_of_five, its_end_waits_for_no_answer) {
  auto in_the_way = stall({0});
  const stopwatch watch;
  {
    quorum_lock ours{locks_->clients(), "job"};
    EXPECT_TRUE(ours.acquire());
  }
  EXPECT_LT(watch.elapsed(), 1s + slack()) << "much less than call_timeout";
  in_the_way.clear();
  EXPECT_TRUE(are_free({0}));
}

TEST_P(quorum_of_five, is_never_had_by_two_threads_of_one_program_or_of_two) {
  constexpr int rounds = 6;
  room inside;
  int counter = 0;
  on_threads(4, [&](int t) {
    for (int i = 0; i < rounds; ++i) {
      const auto held = (t % 2 == 0 ? ours_ : theirs_).acquire();
      ++counter;
      inside.visit();
      EXPECT_EQ(held.why_lost(), loss_reason::none);
    }
  });
  EXPECT_EQ(counter, 4 * rounds);
  EXPECT_EQ(inside.crowded(), 0);
  EXPECT_TRUE(are_free({0, 1, 2, 3, 4}));
}

TEST_P(quorum_of_five, refuses_what_makes_no_sense) {
  const auto made = [&](errc why, lock_options options) {
    return throws(why, [&] { const quorum_lock lock{locks_->clients(), "job", std::move(options)}; });
  };
  EXPECT_TRUE(made(errc::unsupported, {.strategy = strategy::for_update}));
  EXPECT_TRUE(made(errc::unsupported, {.fairness = fairness::fifo}));
  EXPECT_TRUE(made(errc::unsupported, {.at_least = 1s}));
  EXPECT_TRUE(made(errc::invalid_option, {.lease = 1ms}));
  EXPECT_TRUE(made(errc::invalid_option, {.as = holder::named("me")}));
  EXPECT_TRUE(throws(errc::invalid_option, [] { const quorum_lock lock{{}, "job"}; }));
  auto twice = locks_->clients();
  twice.push_back(twice.front());
  EXPECT_TRUE(throws(errc::invalid_option, [&] { const quorum_lock lock{twice, "job"}; }));
}

TEST_P(quorum_of_five, is_a_matter_of_any_number_and_of_each_lease_strategy) {
  auto some = locks_->clients();
  for (std::size_t number = 5; number > 0; --number) {
    some.resize(number, some.front());
    quorum_lock job{some, "job", {.strategy = strategy::version_cas}};
    EXPECT_EQ(job.majority(), number / 2 + 1);
    EXPECT_TRUE(job.try_acquire());
  }
}

}  // namespace
}  // namespace rowlock::test
