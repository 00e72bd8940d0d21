#include <gmock/gmock.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/error_detail.hpp"
#include "engine/gateway/combiner.hpp"
#include "support/errors.hpp"
#include "support/happening.hpp"
#include "testkit/eventually.hpp"
#include "unit/fake_database.hpp"

// Which requests travel together, and what becomes of each, with a database that the test plays. The lines are kept
// busy for as long as requests are to gather.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::combiner;
using engine::purpose;
using test::error_of;
using test::eventually;
using test::happening;
using test::is_error;
using test::throws;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct question {
  std::string_view name;
  std::string_view says;
  static constexpr auto texts() { return std::array{&question::name, &question::says}; }
};
using asked_verb = engine::combined_verb<question, std::string>;
using batches = std::vector<std::vector<std::string>>;

void refuse_bad(std::span<const question> some) {
  for (const auto& q : some)
    if (q.name == "bad") throw error{errc::database_error, "it was refused"};
}
error lost_reply() {
  return detail::error_access::make(errc::outcome_unknown, "the reply was lost",
                                    {.connection_unusable = true, .outcome_unknown = true});
}

bool has_unknown_outcome(const std::optional<error>& e) { return e && e->outcome_is_unknown(); }

struct combiner_test : testing::Test {
  explicit combiner_test(combiner::line_options with = {.lines = 1}) : options{with} {}

  std::vector<std::string> answer(std::string_view which, std::span<const question> some) {
    std::vector<std::string> names;
    for (const auto& q : some) names.emplace_back(q.name);
    {
      const std::lock_guard alone{mutex};
      asked.push_back(names);
      for (auto& each : asked.back()) each.insert(0, which);
    }
    if (names.front() == "blocker") {
      is_blocked.happens();
      static_cast<void>(may_go_on.within());
    }
    if (on_batch) on_batch(some);
    std::vector<std::string> out;
    for (const auto& q : some) out.push_back(std::string{q.says} + "!");
    return out;
  }

  asked_verb::function by(std::string_view which) {
    return [this, which](const store::access& on, std::span<const question> some) {
      {
        const std::lock_guard alone{mutex};
        deadline = on.until.deadline;
      }
      return answer(which, some);
    };
  }

  std::future<std::string> ask(std::string name, asked_verb& what, const engine::combined_limits& until) {
    return std::async(std::launch::async,
                      [this, name = std::move(name), &what, until] { return run(name, what, until).what; });
  }
  engine::sent_answer<std::string> run(const std::string& name, asked_verb& what,
                                       const engine::combined_limits& until) {
    engine::combined_call_ptr own;
    try {
      engine::thread_flow here;
      return combined.run(here, what, {.name = name, .says = name}, until, own).get();
    } catch (const error&) {
      const std::lock_guard alone{mutex};
      if (own) left = std::move(own);
      throw;
    }
  }
  std::future<std::string> ask(std::string name) { return ask(std::move(name), acquiring, an_hour()); }

  static engine::combined_limits an_hour(std::stop_token stop = {}) {
    const auto end = base::now() + 1h;
    return {.until = {.deadline = end, .stop = std::move(stop)}, .last = end};
  }
  static engine::combined_limits over() { return {.until = {.deadline = base::now()}, .last = base::now()}; }

  void block() {
    blocker = ask("blocker");
    ASSERT_TRUE(is_blocked.within());
  }
  // Asks, and waits until it is queued.
  std::future<std::string> queue(const std::string& name, asked_verb& what, const engine::combined_limits& until) {
    const auto before = combined.waiting();
    auto out = ask(name, what, until);
    EXPECT_TRUE(eventually([&] { return combined.waiting() > before; }));
    return out;
  }
  std::future<std::string> queue(const std::string& name) { return queue(name, acquiring, an_hour()); }
  void go_on() { may_go_on.happens(); }
  template <class... Futures>
  void go_on_until_answered(Futures&... all) {
    go_on();
    (all.get(), ...);
  }

  int most_under_way_for_a_name() {
    std::mutex counting;
    std::map<std::string, int> under_way;
    int most = 0;
    on_batch = [&](std::span<const question> some) {
      std::set<std::string> names;
      for (const auto& each : some) names.emplace(each.name);
      const auto add = [&](int number) {
        const std::lock_guard alone{counting};
        for (const auto& each : names) most = std::max(most, under_way[each] += number);
      };
      add(1);
      std::this_thread::yield();
      add(-1);
    };
    std::vector<std::future<void>> callers;
    for (int i = 0; i < 8; ++i)
      callers.push_back(std::async(std::launch::async, [&, i] {
        for (int n = 0; n < 50; ++n) run(i % 2 == 0 ? "even" : "odd", n % 2 == 0 ? acquiring : releasing, an_hour());
      }));
    for (auto& each : callers) each.get();
    return most;
  }

  batches all_asked() {
    const std::lock_guard alone{mutex};
    return asked;
  }

  test::fake_database db;
  combiner::line_options options;
  std::mutex mutex;
  batches asked;
  base::instant deadline{};  // of the last batch
  happening is_blocked;
  happening may_go_on;
  std::function<void(std::span<const question>)> on_batch;
  static bool has_effect(const std::string& answer) { return answer != "refused!"; }
  asked_verb acquiring{purpose::usual, by(""), has_effect};
  asked_verb releasing{purpose::releasing, by("-"), has_effect};
  combiner combined{[this](const driver::limits& until, purpose what_for, const auto& use) {
                      db.gateway().run(until, use, what_for);
                    },
                    options};
  std::future<std::string> blocker;
  engine::combined_call_ptr left;  // behind, by the last thread that left one
};

using fate = engine::combined_call::fate;

/// One thread leaves its request in a batch that is under way; the test decides when that ends.
struct left_behind_test : combiner_test {
  left_behind_test() {
    on_batch = [this](std::span<const question> some) {
      if (some.front().name == "blocker") return;
      is_sent.happens();
      static_cast<void>(may_end.within());
      if (fails) throw error{*fails};
    };
  }

  void leave(const std::string& name) {
    block();
    std::stop_source stop;
    auto leaves = queue(name, acquiring, an_hour(stop.get_token()));
    stays = queue("stays");
    go_on();
    ASSERT_TRUE(is_sent.within());
    stop.request_stop();
    ASSERT_TRUE(has_unknown_outcome(error_of([&] { leaves.get(); })));
    ASSERT_TRUE(left);
  }
  void end_batch() {
    may_end.happens();
    stays.wait();
  }
  void give_up() {
    left->give_up([this](fate now) {
      fates.push_back(now);
      is_told.happens();
    });
  }

  void expect_fate(const std::string& name, fate what) {
    leave(name);
    give_up();
    EXPECT_TRUE(fates.empty());
    end_batch();
    ASSERT_TRUE(is_told.within());
    EXPECT_THAT(fates, ElementsAre(what));
  }

  happening is_sent;
  happening may_end;
  happening is_told;
  std::optional<error> fails;
  std::future<std::string> stays;
  std::vector<fate> fates;  // that were told, by one thread
};

struct mixing_combiner_test : combiner_test {
  mixing_combiner_test() : combiner_test{{.lines = 1, .mixes_verbs = true}} {}
};

struct few_callers_test : combiner_test {
  few_callers_test() : combiner_test{{.lines = 1, .few = 3}} {}
};

struct by_name_test : combiner_test {
  by_name_test() : combiner_test{{.lines = 1, .by_name = true}} {}
};

struct all_names_test : combiner_test {
  all_names_test() : combiner_test{{.lines = 1, .by_name = true, .of_all_names = true}} {}
};

struct all_names_on_two_lines_test : combiner_test {
  all_names_on_two_lines_test() : combiner_test{{.lines = 2, .by_name = true, .of_all_names = true}} {}
};

struct no_combiner_test : combiner_test {
  no_combiner_test() : combiner_test{{}} {}
};

TEST_F(combiner_test, sends_what_gathers_while_the_line_is_busy_together_and_each_gets_its_answer) {
  block();
  auto b = queue("b");
  auto a = queue("a");
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker")));
  go_on();
  EXPECT_EQ(a.get(), "a!");
  EXPECT_EQ(b.get(), "b!");
  EXPECT_EQ(blocker.get(), "blocker!");
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("a", "b"))) << "by name";
}

TEST_F(combiner_test, sends_a_request_that_finds_the_line_free_on_its_own_thread) {
  std::thread::id where;
  on_batch = [&](std::span<const question>) { where = std::this_thread::get_id(); };
  EXPECT_EQ(run("a", acquiring, an_hour()).what, "a!");
  EXPECT_EQ(where, std::this_thread::get_id());
}

// Two threads that ask again a moment after they were answered, long before a statement would have ended.
struct prompt_callers_test : combiner_test {
  prompt_callers_test() : combiner_test{{.lines = 2, .few = 1}} {
    on_batch = [](auto some) {
      if (some.front().name != "blocker") std::this_thread::sleep_for(10ms);  // the time of a statement
    };
  }
  ~prompt_callers_test() override {
    is_over = true;
    go_on();
  }

  void asks(const std::string& name) {
    askers.push_back(std::async(std::launch::async, [this, name] {
      for (; !is_over; std::this_thread::sleep_for(1ms)) EXPECT_EQ(run(name, acquiring, an_hour()).what, name + "!");
    }));
  }
  // Not now and then, by chance.
  bool leave_together() {
    asks("a");
    asks("b");
    return eventually([this] {
      const auto asked = all_asked();
      const auto last = std::span{asked}.last(std::min<std::size_t>(asked.size(), 5));
      return last.size() == 5 && std::ranges::all_of(last, [](const auto& batch) { return batch.size() == 2; });
    });
  }

  std::atomic<bool> is_over{false};
  std::vector<std::future<void>> askers;
};

// There are two lines, and never a third caller: without a wait for the other each request leaves by itself.
TEST_F(prompt_callers_test, share_one_line_and_leave_together) { EXPECT_TRUE(leave_together()); }

TEST_F(prompt_callers_test, have_the_other_line_where_one_is_stuck) {
  ASSERT_TRUE(leave_together());
  blocker = ask("blocker", releasing, an_hour());
  ASSERT_TRUE(is_blocked.within());
  const auto before = all_asked().size();
  EXPECT_TRUE(eventually([&] { return all_asked().size() > before + 100; }));
}

TEST_F(combiner_test, has_a_name_in_a_batch_once) {
  block();
  auto first = queue("a");
  auto second = queue("a");
  auto other = queue("b");
  go_on_until_answered(first, second, other);
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("a", "b"), ElementsAre("a")));
}

TEST_F(combiner_test, sends_verbs_one_after_the_other_in_the_order_in_which_they_came) {
  block();
  auto a = queue("a");
  auto b = queue("b", releasing, an_hour());
  auto c = queue("c");
  go_on_until_answered(a, b, c);
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("a", "c"), ElementsAre("-b")));
}

TEST_F(mixing_combiner_test, sends_releases_first_where_one_transaction_has_all) {
  block();
  auto a = queue("a");
  auto b = queue("b", releasing, an_hour());
  auto again = queue("b");
  go_on_until_answered(a, b, again);
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("-b"), ElementsAre("a", "b")));
}

TEST_F(by_name_test, sends_what_gathers_for_a_name_together_verb_by_verb_and_other_names_at_once) {
  block();
  auto first = queue("blocker");
  auto released = queue("blocker", releasing, an_hour());
  auto second = queue("blocker");
  EXPECT_EQ(run("other", acquiring, an_hour()).what, "other!");
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("other")));
  go_on_until_answered(first, released, second);
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("other"), ElementsAre("blocker", "blocker"),
                                       ElementsAre("-blocker")));
}

TEST_F(by_name_test, has_no_two_statements_for_a_name_under_way) {
  EXPECT_EQ(most_under_way_for_a_name(), 1);
  for (const auto& batch : all_asked())
    for (const auto& name : batch) EXPECT_EQ(name, batch.front());
}

TEST_F(all_names_test, sends_all_that_gathers_for_names_with_none_under_way_verb_by_verb) {
  block();
  auto b = queue("b");
  auto first = queue("a");
  auto released = queue("a", releasing, an_hour());
  auto again = queue("blocker");
  auto second = queue("a");
  go_on_until_answered(b, first, released, again, second);
  EXPECT_THAT(all_asked(),
              ElementsAre(ElementsAre("blocker"), ElementsAre("a", "a", "b", "blocker"), ElementsAre("-a")));
}

TEST_F(all_names_on_two_lines_test, has_no_two_statements_for_a_name_under_way) {
  EXPECT_EQ(most_under_way_for_a_name(), 1);
}

TEST_F(combiner_test, counts_the_time_of_a_request_from_when_it_was_sent) {
  block();
  base::instant sent{};
  auto waiting = std::async(std::launch::async, [&] { sent = run("a", acquiring, an_hour()).sent; });
  ASSERT_TRUE(eventually([&] { return combined.waiting() == 1; }));
  const auto before = base::now();
  go_on();
  waiting.get();
  EXPECT_GE(sent, before);
}

// Straight, and in a batch.
TEST_F(combiner_test, counts_the_time_of_a_request_from_before_its_answer) {
  std::atomic<base::instant> asked_at{};
  on_batch = [&](std::span<const question>) {
    const auto begin = base::now();
    asked_at = begin;
    while (base::now() == begin) std::this_thread::yield();
  };
  const auto straight = run("a", acquiring, an_hour()).sent;
  EXPECT_LE(straight, asked_at.load());
  block();
  std::vector<std::future<base::instant>> sent;
  for (const char* const name : {"b", "c"})
    sent.push_back(std::async(std::launch::async, [&, name] { return run(name, acquiring, an_hour()).sent; }));
  ASSERT_TRUE(eventually([&] { return combined.waiting() == sent.size(); }));
  go_on();
  for (auto& each : sent) {
    const auto in_a_batch = each.get();
    EXPECT_LE(in_a_batch, asked_at.load());
  }
}

TEST_F(combiner_test, lets_a_request_that_is_refused_fail_alone) {
  on_batch = refuse_bad;
  block();
  std::vector<std::future<std::string>> good;
  for (const auto* name : {"a", "b", "c", "d", "e"}) good.push_back(queue(name));
  auto bad = queue("bad");
  go_on();
  for (auto& each : good) EXPECT_EQ(each.get().back(), '!');
  EXPECT_TRUE(throws(errc::database_error, [&] { bad.get(); }));
}

TEST_F(mixing_combiner_test, lets_a_request_that_is_refused_fail_alone_among_other_verbs) {
  on_batch = refuse_bad;
  block();
  auto good = queue("good", releasing, an_hour());
  auto bad = queue("bad");
  go_on();
  EXPECT_EQ(good.get(), "good!");
  EXPECT_TRUE(throws(errc::database_error, [&] { bad.get(); }));
}

TEST_F(combiner_test, tells_each_of_a_batch_that_its_reply_was_lost) {
  on_batch = [](std::span<const question> some) {
    if (some.front().name != "blocker") throw error{lost_reply()};
  };
  block();
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 50; ++i) all.push_back(queue("n" + std::to_string(i)));
  go_on();
  for (auto& each : all) EXPECT_TRUE(has_unknown_outcome(error_of([&] { each.get(); })));
  EXPECT_EQ(all_asked().size(), 2U) << "nothing is repeated";
}

TEST_F(combiner_test, repeats_nothing_whose_outcome_is_unknown_though_the_connection_is_usable) {
  on_batch = [](std::span<const question> some) {
    if (some.front().name != "blocker")
      throw detail::error_access::make(errc::database_error, "the second of two statements failed",
                                       {.outcome_unknown = true});
  };
  block();
  auto a = queue("a");
  auto b = queue("b");
  go_on();
  for (auto* each : {&a, &b}) EXPECT_TRUE(has_unknown_outcome(error_of([&] { each->get(); })));
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker"), ElementsAre("a", "b")));
}

TEST_F(combiner_test, does_not_send_what_is_out_of_time_or_stopped_while_it_waits) {
  block();
  std::stop_source stop;
  auto stopped = queue("stopped", acquiring, an_hour(stop.get_token()));
  stop.request_stop();
  EXPECT_TRUE(is_error(error_of([&] { stopped.get(); }), errc::cancelled, {.outcome_is_unknown = false}));
  EXPECT_TRUE(is_error(error_of([&] { ask("late", acquiring, over()).get(); }), errc::pool_exhausted,
                       {.outcome_is_unknown = false}));
  EXPECT_EQ(combined.waiting(), 0U);
  go_on();
  blocker.get();
  EXPECT_THAT(all_asked(), ElementsAre(ElementsAre("blocker")));
}

TEST_F(left_behind_test, has_an_unknown_outcome_for_the_thread_that_leaves) {
  block();
  std::stop_source stop;
  stays = queue("stays");
  auto leaves = queue("leaves", acquiring, an_hour(stop.get_token()));
  const auto soon = base::now() + 1s;
  auto times_out = queue("times out", acquiring, {.until = {.deadline = soon}, .last = soon});
  go_on();
  ASSERT_TRUE(is_sent.within());
  stop.request_stop();
  EXPECT_TRUE(is_error(error_of([&] { leaves.get(); }), errc::cancelled, {.outcome_is_unknown = true}));
  EXPECT_TRUE(is_error(error_of([&] { times_out.get(); }), errc::call_timed_out, {.outcome_is_unknown = true}));
  may_end.happens();
  EXPECT_EQ(stays.get(), "stays!");
}

TEST_F(left_behind_test, is_told_of_when_the_batch_ends) { expect_fate("leaves", fate::done); }

TEST_F(left_behind_test, has_done_nothing_if_it_was_refused) { expect_fate("refused", fate::nothing); }

TEST_F(left_behind_test, has_an_unknown_fate_if_the_reply_was_lost) {
  fails = lost_reply();
  expect_fate("leaves", fate::unknown);
}

TEST_F(left_behind_test, is_told_of_at_once_if_the_batch_has_ended) {
  leave("leaves");
  end_batch();
  EXPECT_TRUE(fates.empty()) << "it is its thread's until it is given up";
  combined.stop();
  give_up();
  EXPECT_THAT(fates, ElementsAre(fate::done));
}

TEST_F(combiner_test, gives_a_batch_the_time_of_the_request_that_has_most) {
  block();
  const auto end = base::now() + 2h;
  auto shorter = queue("a");
  auto longer = queue("b", acquiring, {.until = {.deadline = end}, .last = end});
  go_on();
  EXPECT_EQ(shorter.get(), "a!");
  EXPECT_EQ(longer.get(), "b!");
  EXPECT_EQ(deadline, end);
}

TEST_F(combiner_test, sends_nothing_that_is_queued_once_it_is_stopped_and_what_comes_later_straight) {
  block();
  std::stop_source stop;
  auto queued = queue("queued", acquiring, an_hour(stop.get_token()));
  combined.stop();
  EXPECT_EQ(ask("later").get(), "later!");
  go_on();
  EXPECT_EQ(blocker.get(), "blocker!");
  stop.request_stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { queued.get(); }));
  EXPECT_THAT(all_asked(), UnorderedElementsAre(ElementsAre("blocker"), ElementsAre("later")));
}

TEST_F(no_combiner_test, sends_each_by_itself) {
  block();
  EXPECT_EQ(ask("a").get(), "a!") << "beside the other";
  go_on();
  EXPECT_EQ(blocker.get(), "blocker!");
}

TEST_F(few_callers_test, use_a_line_each_and_more_of_them_gather) {
  block();
  auto second = ask("blocker");
  auto third = ask("blocker");
  ASSERT_TRUE(eventually([&] { return all_asked().size() == 3; })) << "though there is one line";
  auto fourth = queue("d");
  auto fifth = queue("e");
  go_on_until_answered(blocker, second, third, fourth, fifth);
  ASSERT_EQ(all_asked().size(), 4U);
  EXPECT_THAT(all_asked().back(), UnorderedElementsAre("d", "e"));
}

}  // namespace
}  // namespace rowlock
