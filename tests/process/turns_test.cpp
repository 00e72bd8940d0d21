#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "core/lease.hpp"
#include "process/process_test.hpp"
#include "support/named_waiter.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"

// Processes take the lock by turns, again and again, while some of them are killed, stopped for a while, or give up.
// Whoever has it writes down the tickets of those who wait, before it lets go. So the order is judged by tickets alone.

namespace rowlock::test {
namespace {

constexpr auto contended = "job";

/// How a process gives up a wait, at a moment left to chance; or not.
enum class giving_up : std::uint8_t { by_time, by_stop, never };

/// A process may be stopped in a call, which costs a session over TLS.
template <class Call>
auto at_last(Call call) {
  for (;;) {
    try {
      return call();
    } catch (const error& e) {
      if (!e.is_retryable()) throw;
    }
  }
}

/// turner URL FOLDER ID STRATEGY SEED: waits in turn, again and again, until it finds "enough" in the folder. Writes to
/// the log there, with its id and the number of its wait for WHO:
///
///   + WHO TIME SINCE TOKEN           when it has the lock, and since when it has waited
///   - WHO TIME LOST WHO TICKET ...   before it lets go: whether it has lost it, and who waits
class turner {
 public:
  explicit turner(const std::vector<std::string>& arguments)
      : locks_{at_last([&] { return connect_patiently(arguments.at(0), {.handover = false}); })},
        folder_{arguments.at(1)},
        log_{folder_ / "log", std::ios::app},
        id_{arguments.at(2)},
        options_{.strategy = strategy_named(arguments.at(3)), .lease = 10s, .fairness = fairness::fifo},
        dice_{static_cast<unsigned>(std::stoul(arguments.at(4)))} {}

  int play() {
    for (int wait = 0; !std::filesystem::exists(folder_ / "enough"); ++wait)
      take_turn(id_ + "." + std::to_string(wait));
    return 0;
  }

 private:
  void take_turn(const std::string& who) {
    const auto how = static_cast<giving_up>(std::min(dice_() % 8, 2UL));
    const std::chrono::microseconds after{dice_() % 20'000};
    std::stop_source stop;
    std::jthread stopping;
    if (how == giving_up::by_stop)
      stopping = std::jthread{[stop, after]() mutable {
        std::this_thread::sleep_for(after);
        stop.request_stop();
      }};
    options_.as = holder::named(who);
    const duration limit = how == giving_up::by_time ? duration{after} : 10min;
    const auto since = shared_clock();
    std::optional<held_lock> held;
    const auto failed = error_of(
        [&] { return (held = locks_.try_acquire_for(contended, limit, options_, stop.get_token())).has_value(); });
    const bool was_unanswered = how == giving_up::by_time && failed && failed->is_retryable();  // in that short time
    if (failed && !was_unanswered) throw error{*failed};
    if (!held) return;
    write("+", who, std::to_string(since) + " " + std::to_string(held->token().value()));
    std::string rest;
    for (const auto& each : at_last([&] { return locks_.waiters(contended); }))
      rest += " " + name_in(each) + " " + std::to_string(each.ticket);
    write("-", who, (held->why_lost() == loss_reason::none ? "0" : "1") + rest);
    error_of([&] { held->release(); });
  }
  void write(const std::string& what, const std::string& who, const std::string& rest) {
    log_ << what + " " + who + " " + std::to_string(shared_clock()) + " " + rest + "\n" << std::flush;
  }

  client locks_;
  std::filesystem::path folder_;
  std::ofstream log_;
  std::string id_;
  lock_options options_;
  std::minstd_rand dice_;
};

const role_registration turner_role{"turner",
                                    [](const std::vector<std::string>& arguments) { return turner{arguments}.play(); }};

/// That somebody had the lock.
struct holding {
  std::string who;
  std::int64_t waited_since = 0;
  std::int64_t began = 0;
  std::int64_t ended = std::numeric_limits<std::int64_t>::max();
  std::int64_t token = 0;
  bool is_lost = true;  // or its process was killed
  std::map<std::string, std::int64_t> waiting{};

  /// Of one that waits. One that came later has a later one, and one that was about to take a ticket perhaps an
  /// earlier.
  std::int64_t ticket_of(const std::string& other) const {
    const auto found = waiting.find(other);
    return found == waiting.end() ? std::numeric_limits<std::int64_t>::max() : found->second;
  }
};

/// All there were, in their order, but for those that were lost.
std::vector<holding> turns_in(const std::filesystem::path& log) {
  std::vector<holding> all;
  std::ifstream in{log};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    std::string what;
    holding each;
    words >> what >> each.who;
    if (what == "+") {
      words >> each.began >> each.waited_since >> each.token;
      all.push_back(each);
      continue;
    }
    auto& own = *std::find_if(all.rbegin(), all.rend(), [&](const holding& other) { return other.who == each.who; });
    words >> own.ended >> own.is_lost;
    std::int64_t ticket = 0;
    for (std::string who; words >> who >> ticket;)
      if (who != own.who) own.waiting.emplace(who, ticket);
  }
  std::erase_if(all, [](const holding& each) { return each.is_lost; });
  return all;
}

class taking_turns : public on_each_database {
 protected:
  static constexpr int processes = 8;
  using turners = std::map<std::string, std::unique_ptr<child_process>>;

  taking_turns() {
    connect_patiently(db().url()).migrate();
    fill_up();
  }

  int any_below(int end) { return std::uniform_int_distribution{0, end - 1}(dice_); }

  void fill_up() {
    for (; all_.size() < processes; ++born_) {
      const auto id = "p" + std::to_string(born_);
      const std::string by{to_string(born_ % 2 == 0 ? strategy::unique_index : strategy::version_cas)};
      all_.emplace(id, std::make_unique<child_process>("turner", std::vector{db().url(), folder_.path().string(), id,
                                                                             by, std::to_string(dice_())}));
    }
  }
  std::ptrdiff_t number_of_turns() const {
    std::ifstream log{folder_ / "log"};
    return std::count(std::istreambuf_iterator<char>{log}, {}, '\n') / 2;
  }
  void let_pass(int number) {
    for (const auto enough = number_of_turns() + number; number_of_turns() < enough;) {
      const auto before = number_of_turns();
      ASSERT_TRUE(eventually([&] { return number_of_turns() > before; })) << "nobody has a turn";
    }
  }

  /// A process that is stopped while it waits behind others.
  struct stopped {
    turners::iterator process;
    std::string who;
    std::int64_t ticket;
  };
  /// Anybody's. It is in nobody's way: not the first, who may have the lock by now, nor in the middle of a transaction.
  stopped stop_somebody() {
    for (;;) {
      const auto victim = std::next(all_.begin(), any_below(static_cast<int>(all_.size())));
      victim->second->pause();
      std::vector<waiter_info> queue;
      error_of([&] { queue = hasty_.waiters(contended); });
      for (std::size_t i = 2; i < queue.size(); ++i)
        if (name_in(queue[i]).starts_with(victim->first + ".") &&
            !error_of([&] { return hasty_.try_acquire("free").has_value(); }))
          return {.process = victim, .who = name_in(queue[i]), .ticket = queue[i].ticket};
      victim->second->resume();
    }
  }
  struct newest_other {
    std::int64_t seen = 0;
    std::int64_t ticket = 0;
  };
  bool is_waiting(std::int64_t ticket) {
    const auto queue = locks_.waiters(contended);
    return std::any_of(queue.begin(), queue.end(), [&](const waiter_info& each) { return each.ticket == ticket; });
  }

  void kill_somebody() {
    const auto victim = stop_somebody().process;
    victim->second->kill();
    all_.erase(victim);
  }
  void stop_somebody_shortly() { stop_somebody().process->second->resume(); }
  /// Until its ticket has run out, and is deleted; then it takes another one. Unless it had just asked for the lock,
  /// and has it.
  void stop_somebody_for_long() {
    const auto victim = stop_somebody();
    ASSERT_TRUE(eventually([&] { return !is_waiting(victim.ticket); }));
    const auto row = db().row(contended);
    if (!row || row->thread != holder::named(victim.who).text()) {
      db().erase_ticket(victim.ticket);
      const auto queue = locks_.waiters(contended);
      came_back_.emplace(victim.who, newest_other{shared_clock(), queue.empty() ? 0 : queue.back().ticket});
    }
    victim.process->second->resume();
  }
  void end() {
    std::ofstream{folder_ / "enough"}.flush();
    for (auto& [id, process] : all_) EXPECT_EQ(process->wait(), 0) << id;
  }

  /// The owner that a release has made has at least that time to claim it: docs/protocol.md, "Grant by release".
  static bool had_time_to_come(const holding& before, const holding& next) {
    return std::chrono::microseconds{next.began - before.ended} >= 300ms;
  }
  void judge(const std::vector<holding>& all) const {
    std::map<std::string, std::size_t> places;
    std::map<std::string, std::int64_t> seen;  // when who waits was first written down
    for (std::size_t i = 0; i < all.size(); ++i) places.emplace(all[i].who, i);
    EXPECT_EQ(places.size(), all.size());
    int waited = 0;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const auto& now = all[i];
      const auto& next = all[i + 1];
      ASSERT_GT(next.token, now.token) << next.who << " after " << now.who;
      ASSERT_GE(next.began, now.ended) << next.who << " and " << now.who << " hold at once";
      const auto ticket = now.ticket_of(next.who);
      for (const auto& [who, other] : now.waiting) seen.emplace(who, now.ended);
      for (const auto& [who, other] : now.waiting) {
        const auto place = places.find(who);
        if (other > ticket || place == places.end() || place->second <= i + 1) continue;
        if (came_back_.contains(who) || had_time_to_come(now, next)) continue;
        if (!now.waiting.contains(next.who) && next.waited_since <= seen.at(who)) continue;
        FAIL() << next.who << " goes before " << who << ", which has ticket " << other << ", after " << now.who;
      }
      if (now.waiting.contains(next.who)) ++waited;
      const auto back = came_back_.find(next.who);
      if (back != came_back_.end() && now.began > back->second.seen) {
        EXPECT_GT(ticket, back->second.ticket) << next.who << " has lost its place";
      }
    }
    RecordProperty("turns", static_cast<int>(all.size()));
    RecordProperty("turns_waited_for", waited);
    EXPECT_GT(waited, 20) << "else the order of tickets is not seen";
  }

  const temp_folder folder_{};
  client locks_ = connect_patiently(db().url());
  client hasty_ = connect_patiently(db().url(), {.call_timeout = 1s});
  std::minstd_rand dice_{seed()};
  int born_ = 0;
  turners all_;
  std::map<std::string, newest_other> came_back_;  // whose tickets had run out
};
ROWLOCK_SUITE_ON_EACH_DATABASE(taking_turns);

TEST_P(taking_turns, goes_by_the_order_of_tickets_among_all_who_are_left) {
  for (int round = 0; round < many(8, 1); ++round) {
    for (int i = 0; i < 8; ++i) {
      let_pass(1 + any_below(20));
      stop_somebody_shortly();
    }
    let_pass(1 + any_below(20));
    kill_somebody();
    kill_somebody();
    stop_somebody_for_long();
    let_pass(30);
    fill_up();
    let_pass(30);
  }
  end();
  judge(turns_in(folder_ / "log"));
  EXPECT_TRUE(eventually([&] { return locks_.waiters(contended).empty(); })) << "the dead go by the clock";
}

}  // namespace
}  // namespace rowlock::test
