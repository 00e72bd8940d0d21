#include "worker.hpp"

#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "messages.hpp"
#include "shop.hpp"
#include "testkit/json_line.hpp"
#include "ways.hpp"

namespace flash_sale {
namespace {

/// Makes the buyers of this process end after the purchases they are at.
std::atomic<bool> told_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// The threads of one process, and what they share.
class buyers {
 public:
  /// Opens all connections.
  explicit buyers(const task& what);

  /// Once. Throws what went wrong in the first thread that failed.
  message buy_everything();

 private:
  void buy_in_turn(shop& from, buyer_notes& mine) noexcept;
  outcome buy_one(shop& from, const request& wanted, buyer_notes& mine);
  bool is_over() const noexcept;
  void fail(const std::string& why);

  std::vector<request> requests_;
  std::size_t recorded_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> sold_out_{false};
  std::unique_ptr<way> way_;

  std::mutex error_mutex_;
  std::string error_;  ///< of the first thread that failed
  std::atomic<bool> failed_{false};

  std::vector<shop> shops_;  ///< one for each thread
};

buyers::buyers(const task& what)
    : requests_{requests_for(what.sale, what.process)},
      recorded_{what.recorded},
      way_{make_way(what.strategy, what.locks_url)} {
  for (std::size_t thread = 0; thread < what.sale.threads; ++thread) shops_.emplace_back(what.shop_url);
}

message buyers::buy_everything() {
  std::vector<buyer_notes> each_thread(shops_.size(), {.trace = recorder{recorded_}});
  {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < shops_.size(); ++at)
      threads.emplace_back([&from = shops_[at], &mine = each_thread[at], this] { buy_in_turn(from, mine); });
  }
  if (failed_) throw std::runtime_error{error_};
  if (told_to_stop) throw std::runtime_error{"ended by a signal"};
  message all;
  for (const auto& mine : each_thread) {
    all.bought += mine.bought;
    all.waits_us.insert(all.waits_us.end(), mine.waits_us.begin(), mine.waits_us.end());
    if (mine.trace.is_on()) all.purchases.push_back(mine.trace.latest());
  }
  return all;
}

void buyers::buy_in_turn(shop& from, buyer_notes& mine) noexcept {
  try {
    while (!is_over()) {
      const auto place = next_.fetch_add(1);
      if (place >= requests_.size()) return;
      const auto result = buy_one(from, requests_[place], mine);
      if (result == outcome::bought) ++mine.bought;
      if (result == outcome::sold_out) sold_out_ = true;
    }
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

outcome buyers::buy_one(shop& from, const request& wanted, buyer_notes& mine) {
  auto& trace = mine.trace;
  trace.ask();
  const auto result = way_->buy(from, wanted, mine);
  trace.release();
  // Asked afterwards, so that nobody waits for it.
  if (trace.is_on() && result == outcome::bought) trace.bought(from.last_order());
  return result;
}

bool buyers::is_over() const noexcept { return sold_out_ || failed_ || told_to_stop; }

void buyers::fail(const std::string& why) {
  const std::scoped_lock guard{error_mutex_};
  if (error_.empty()) error_ = why;
  failed_ = true;
}

/// How long its lock outlives it while it is paused.
constexpr std::chrono::milliseconds short_lease{500};

/// Takes the lock, decides, and carries that out only later, without another look: a process may be paused anywhere.
class late_buyer {
 public:
  explicit late_buyer(const task& what);

  /// In one transaction. What is bought is 0 where `confirm` did not let it commit.
  message carry_out();

 private:
  request request_{.user = 1, .thinking = {}};
  bool confirms_;
  rowlock::client locks_;
  rowlock::held_lock item_;
  shop shop_;
  decision decided_;
};

/// That the lock is lost is what is shown, and no news.
rowlock::client connect_silently(const std::string& locks_url) {
  return rowlock::client::connect(locks_url, {.application = "flash_sale", .observer = [](const auto&) {}});
}

late_buyer::late_buyer(const task& what)
    : confirms_{what.strategy == paused_with_confirm},
      locks_{connect_silently(what.locks_url)},
      item_{locks_.acquire(item, {.lease = short_lease})},
      shop_{what.shop_url},
      decided_{decide(shop_, request_)} {}

message late_buyer::carry_out() try {
  shop_.in_transaction([&](test::open_transaction& tx) {
    flash_sale::carry_out(decided_, shop_, request_);
    if (confirms_) tx.prove(item_);
  });
  return {.bought = 1};
} catch (const rowlock::error& e) {
  if (e.code() != rowlock::errc::lock_lost) throw;
  return {};
}

void tell(const message& what) { std::cout << test::to_line(what) << std::endl; }

std::string next_line() {
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error{"nobody told this worker what to do"};
  return line;
}

/// Tells that it is ready, waits for the word, and tells what happened.
template <class Work>
void tell_and_do(const Work& work) {
  tell({.ready = true});
  (void)next_line();
  tell(work());
}

/// However this process is told to end, it first lets go of its lock.
void end_tidily_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { told_to_stop = true; };
  sigemptyset(&action.sa_mask);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(each, &action, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

}  // namespace

int work() {
  try {
    end_tidily_on_signals();
    const auto what = test::from_line<task>(next_line());
    if (what.strategy == paused_without_confirm || what.strategy == paused_with_confirm) {
      late_buyer one{what};
      tell_and_do([&] { return one.carry_out(); });
    } else {
      buyers all{what};
      tell_and_do([&] { return all.buy_everything(); });
    }
    return 0;
  } catch (const std::exception& e) {
    tell({.error = e.what()});
    return 1;
  }
}

}  // namespace flash_sale
