#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <semaphore>
#include <sstream>

#include "process/process_test.hpp"
#include "support/late_machine.hpp"
#include "support/named_waiter.hpp"
#include "support/slowness.hpp"

// Those who wait in several processes get the lock in the order of their tickets, whatever becomes of the others.

namespace rowlock::test {
namespace {

constexpr auto name = "job";

/// queuer URL LOG: does what it is told:
///
///   order            what it does                                             what it says
///   wait WHO STRATEGY  one more thread waits; once granted it writes WHO to the log  nothing
///   release WHO      lets go                                                  released
///   cancel WHO       stops waiting                                            cancelled or granted
///   end              ends, when nobody waits any more
class queuer {
 public:
  explicit queuer(const std::vector<std::string>& arguments)
      : locks_{connect_patiently(arguments.at(0), {.held_transactions = 16})}, log_{arguments.at(1), std::ios::app} {}

  int play() {
    for (;;) {
      std::istringstream words{hear()};
      std::string order;
      std::string who;
      std::string by;
      words >> order >> who >> by;
      if (order == "wait") {
        all_.emplace(who, std::make_unique<one>(*this, who, strategy_named(by)));
      } else if (order == "release") {
        auto& each = *all_.at(who);
        each.may_go.release();
        each.waiting.get();
        say("released");
      } else if (order == "cancel") {
        auto& each = *all_.at(who);
        each.waiting.stop();
        each.may_go.release();
        say(each.waiting.get() ? "granted" : "cancelled");
      } else {
        return order == "end" ? 0 : 1;
      }
    }
  }

 private:
  struct one {
    one(queuer& in, const std::string& who, strategy by)
        : waiting{[&in, this, who, by](std::stop_token stop) { return in.wait(*this, who, by, stop); }} {}
    std::binary_semaphore may_go{0};
    background<bool> waiting;
  };

  bool wait(one& self, const std::string& who, strategy by, const std::stop_token& stop) {
    // A lock that is granted to one that has just been stopped is free again when the lease ends.
    lock_options options{.strategy = by, .fairness = fairness::fifo, .as = holder::named(who)};
    if (by != strategy::for_update) options.lease = 5s;
    const auto held = locks_.try_acquire_for(name, 10min, options, stop);
    if (!held) return false;
    {
      const std::lock_guard lock{mutex_};
      log_ << who + "\n" << std::flush;
    }
    self.may_go.acquire();
    return true;
  }

  client locks_;
  std::mutex mutex_;
  std::ofstream log_;
  std::map<std::string, std::unique_ptr<one>> all_;
};

const role_registration queuer_role{"queuer",
                                    [](const std::vector<std::string>& arguments) { return queuer{arguments}.play(); }};

class queue_of_processes : public process_test {
 protected:
  using names = std::vector<std::string>;

  /// Each is known by a letter, and who waits in it by that letter and a number.
  void start(int processes) {
    for (int i = 0; i < processes; ++i)
      all_.emplace(static_cast<char>('a' + i),
                   std::make_unique<child_process>("queuer", std::vector<std::string>{db().url(), log_.string()}));
  }
  child_process& process_of(const std::string& who) { return *all_.at(who.at(0)); }

  void start_to_wait(const std::string& who, strategy by) {
    process_of(who).send("wait " + who + " " + std::string{to_string(by)});
  }
  /// The same, behind all who are there already.
  void wait_behind(const std::string& who, strategy by) {
    start_to_wait(who, by);
    const auto is_last = [&] { return ticket_of(locks_, name, who) != 0 && queue().back() == who; };
    EXPECT_TRUE(eventually(is_last)) << who << " does not come to wait";
  }
  void cancel(const std::string& who) {
    process_of(who).send("cancel " + who);
    process_of(who).expect("cancelled");
  }
  void let_go(const std::string& who) {
    process_of(who).send("release " + who);
    process_of(who).expect("released");
  }

  names queue() { return queue_of(locks_, name); }
  /// Who has had it, in that order.
  names granted() const {
    names out;
    std::ifstream in{log_};
    for (std::string each; std::getline(in, each);) out.push_back(each);
    return out;
  }
  bool are_granted(std::size_t number) {
    return eventually([&] { return granted().size() >= number; });
  }

  const temp_folder folder_{};
  const std::filesystem::path log_ = folder_ / "grants";
  std::map<char, std::unique_ptr<child_process>> all_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(queue_of_processes);

// Five processes with six waiters each, all by turns of the strategies.
TEST_P(queue_of_processes, is_granted_in_the_order_of_tickets_beside_kills_and_cancels) {
  auto held = locks_.acquire(name, {.fairness = fairness::fifo});
  start(5);
  for (int i = 0; i < 6; ++i)
    for (const auto& [letter, process] : all_)
      start_to_wait(letter + std::to_string(i),
                    all_strategies.at(static_cast<std::size_t>(letter + i) % all_strategies.size()));
  names expected;
  ASSERT_TRUE(eventually([&] { return (expected = queue()).size() == 30; }));

  const auto cancel_at = [&](std::size_t place) {
    cancel(expected.at(place));
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(place));
  };
  // Somebody else's process than the holder's, and so all of its waiters behind that place.
  const auto kill_first_behind = [&](std::size_t place) {
    const auto rest = expected.begin() + static_cast<std::ptrdiff_t>(place) + 1;
    const char holder = expected.at(place).at(0);
    const auto victim =
        std::find_if(rest, expected.end(), [&](const std::string& each) { return each.at(0) != holder; });
    const char dead = victim->at(0);
    all_.at(dead)->kill();
    expected.erase(std::remove_if(rest, expected.end(), [&](const std::string& each) { return each.at(0) == dead; }),
                   expected.end());
  };
  // A grant by a release is valid for a second. Who claims it later takes another ticket, behind all.
  const late_machine machine{[&] { static_cast<void>(db().tickets()); }};
  const auto comes_last_if_late = [&](std::size_t place) {
    const auto late = expected.begin() + static_cast<std::ptrdiff_t>(place);
    if (machine.by() > 250ms) std::rotate(late, late + 1, expected.end());
  };
  cancel_at(17);
  cancel_at(0);
  held.release();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(are_granted(i + 1)) << "nobody is next in round " << i;
    const auto now = granted();
    ASSERT_EQ(now.size(), i + 1) << "two have it";
    if (now.back() != expected.at(i)) comes_last_if_late(i);
    ASSERT_EQ(now.back(), expected.at(i)) << "in round " << i;
    if (i == 3) cancel_at(i + 1);
    if (i == 5) cancel_at(i + 3);
    if (i == 8) kill_first_behind(i);
    const stopwatch watch;
    let_go(now.back());
    if (i == 8) {
      ASSERT_TRUE(are_granted(i + 2));
      EXPECT_LE(watch.elapsed(), on_this_machine(10s)) << "the dead are passed over";
    }
  }
  EXPECT_EQ(granted(), expected);
  EXPECT_TRUE(eventually([&] { return queue().empty(); })) << "the dead behind the last one go by the clock";
  EXPECT_TRUE(eventually([&] { return locks_.try_acquire(name, {.fairness = fairness::fifo}).has_value(); }));
}

TEST_P(queue_of_processes, passes_over_one_that_is_stopped_at_the_head_until_it_comes_back) {
  auto held = locks_.acquire(name, {.fairness = fairness::fifo});
  start(3);
  wait_behind("a1", strategy::unique_index);
  wait_behind("a2", strategy::version_cas);
  wait_behind("b1", strategy::version_cas);
  const auto ticket = ticket_of(locks_, name, "a1");
  const auto second_ticket = ticket_of(locks_, name, "a2");
  all_.at('a')->pause();
  const stopwatch watch;
  held.release();
  ASSERT_TRUE(are_granted(1));
  EXPECT_LE(watch.elapsed(), on_this_machine(10s));
  EXPECT_EQ(granted(), names{"b1"});
  db().erase_ticket(ticket);  // those who go by do so, when it has been dead for long
  db().erase_ticket(second_ticket);
  wait_behind("c1", strategy::for_update);
  all_.at('a')->resume();
  ASSERT_TRUE(eventually([&] { return queue().size() == 3; })) << "it does not queue anew";
  EXPECT_EQ(queue().front(), "c1") << "it has lost its place";
  auto expected = queue();
  let_go("b1");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(are_granted(i + 2));
    ASSERT_EQ(granted().back(), expected.at(i));
    let_go(expected.at(i));
  }
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

// In time: a grant by a release is valid for a second. Rounds in which the machine was slower say nothing.
TEST_P(queue_of_processes, one_that_is_stopped_and_comes_back_in_time_keeps_its_place) {
  start(2);
  int round = 0;
  EXPECT_TRUE(eventually([&] {
    const auto number = std::to_string(++round);
    const auto had = granted();
    auto held = locks_.acquire(name, {.fairness = fairness::fifo});
    wait_behind("a" + number, strategy::unique_index);
    wait_behind("b" + number, strategy::unique_index);
    all_.at('a')->pause();
    const stopwatch watch;
    held.release();
    const bool was_passed_over = eventually(300ms, [&] { return granted() != had; });
    all_.at('a')->resume();
    EXPECT_TRUE(are_granted(had.size() + 1));
    const bool was_in_time = watch.elapsed() < 1s;
    const auto first = granted().back();
    let_go(first);
    EXPECT_TRUE(are_granted(had.size() + 2));
    let_go(granted().back());
    const bool keeps_its_place = !was_passed_over && first == "a" + number;
    EXPECT_TRUE(keeps_its_place || !was_in_time) << first << " was first in round " << number;
    return keeps_its_place || testing::Test::HasFailure();
  }));
}

}  // namespace
}  // namespace rowlock::test
