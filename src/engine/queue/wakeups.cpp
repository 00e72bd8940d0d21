#include "engine/queue/wakeups.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "core/wait.hpp"
#include "driver/session.hpp"
#include "engine/queue/listening_source.hpp"
#include "store/tickets.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

// For databases that count commits: looks at the queues after every commit of another client.
class commit_wakeups final : public wakeup_source {
 public:
  commit_wakeups(gateway& db, local_wait_queue& queue, ticket_upkeep& tickets)
      : db_{db}, queue_{queue}, tickets_{tickets} {}
  ~commit_wakeups() override { stop(); }
  commit_wakeups(const commit_wakeups&) = delete;
  commit_wakeups& operator=(const commit_wakeups&) = delete;

 private:
  void watch(const std::stop_token& stop) override {
    const auto limits = [&] { return driver::limits{.deadline = base::later(base::now(), 1s), .stop = stop}; };
    const auto session = db_.open_session(limits());
    while (!stop.stop_requested()) {
      auto seen = session->change_count(limits());
      auto since = base::now();
      set_live(true);
      queue_.hint_all();  // earlier commits are not known
      while (pause(base::later(base::now(), core::watch_pause(base::now() - since)), stop)) {
        const auto count = session->change_count(limits());
        if (count == seen) continue;
        seen = count;
        if (look(*session, limits())) since = base::now();
      }
      rest(stop);
    }
  }
  // false: nothing for any waiter of this client.
  bool look(driver::session& on, const driver::limits& until) {
    return tickets_.hint_those_who_may_go({.sheet = db_.sheet(), .session = on, .until = until}, queue_.leaders()) !=
           local_wait_queue::change::none;
  }
  void failed(const std::exception& why) noexcept override try {
    if (begins_to_poll()) db_.events().polling(as_error(why));
  } catch (const std::exception&) {  // out of memory: it is not reported
  }

  gateway& db_;
  local_wait_queue& queue_;
  ticket_upkeep& tickets_;
};

// For databases that do not notify, or do not at the moment: asks which waiters may go, for all names of this client's
// waiters at once.
class poll_wakeups final : public wakeup_source {
 public:
  poll_wakeups(gateway& db, local_wait_queue& queue, ticket_upkeep& tickets)
      : db_{db}, queue_{queue}, tickets_{tickets} {
    *extra_look_.lock() = base::instant::max();
  }
  ~poll_wakeups() override { stop(); }
  poll_wakeups(const poll_wakeups&) = delete;
  poll_wakeups& operator=(const poll_wakeups&) = delete;

  /// While another source is live, this one need not look, except as look_at() says.
  void pause_while(bool another_is_live) {
    is_paused_ = another_is_live;
    nudge();  // it sleeps until the look that was next before, which without a ticket is never
  }
  bool notifies(bool /*is_marked*/) const noexcept override { return is_live() && !is_paused_; }
  /// Looks at that time, and from then on now and then.
  void look_at(base::instant t) noexcept {
    {
      const auto extra = extra_look_.lock();
      if (t >= *extra) return;
      *extra = t;
    }
    nudge();
  }
  /// The other source was rung, and may be rung again before it sleeps, which it does not hear. The time of that is not
  /// known, so the next looks come at growing distances.
  void was_rung() noexcept { was_rung_ = true; }
  // While another source is live there is no next look, and its thread sleeps on.
  void look_sooner() noexcept override {
    if (!is_paused_ && next_look() != base::instant::max()) nudge();
  }

 private:
  void watch(const std::stop_token& stop) override {
    while (!stop.stop_requested()) {
      while (pause(next_look(), stop)) {
        if (next_look() > base::now()) continue;
        look(stop);
        set_live(true);
      }
      rest(stop);
    }
  }
  void look(const std::stop_token& stop) {
    const auto now = base::now();
    const bool is_extra = is_paused_;
    if (is_extra) *extra_look_.lock() = base::later(now, core::ticket_refresh);  // if this one fails
    const auto due = is_extra ? queue_.leaders() : queue_.leaders_due(now);
    if (due.empty()) return;
    const auto change = db_.run(db_.call_limits(stop),
                                [&](const store::access& db) { return tickets_.hint_those_who_may_go(db, due); });
    if (!is_extra) return;
    // By a client that sends no notification, and may do it again: lock_in.
    if (was_rung_.exchange(false)) between_ = 2 * while_passed;
    between_ = change == local_wait_queue::change::passed ? while_passed : std::min(2 * between_, core::ticket_refresh);
    look_at(base::later(base::now(), between_));
  }
  base::instant next_look() { return is_paused_ ? *extra_look_.lock() : queue_.next_look(); }

  static constexpr duration while_passed = std::chrono::milliseconds{20};
  duration between_ = core::ticket_refresh;  // of its thread: two looks while another source is live

  gateway& db_;
  local_wait_queue& queue_;
  ticket_upkeep& tickets_;
  std::atomic<bool> is_paused_{false};
  std::atomic<bool> was_rung_{false};
  base::guarded<base::instant> extra_look_;
};

// Waiters that other clients notify of a name, or wake.
class listening_wakeups final : public listening_source {
 public:
  listening_wakeups(gateway& db, const identity& who, local_wait_queue& queue, ticket_upkeep& tickets,
                    ticket_cleanup& cleanup, poll_wakeups& meanwhile)
      : listening_source{db.database().news(), db.options().call_timeout},
        db_{db},
        who_{who},
        queue_{queue},
        tickets_{tickets},
        cleanup_{cleanup},
        meanwhile_{meanwhile} {}
  ~listening_wakeups() override { stop(); }
  listening_wakeups(const listening_wakeups&) = delete;
  listening_wakeups& operator=(const listening_wakeups&) = delete;

  // A release looks for tickets only if the row says that a client waits.
  bool notifies(bool is_marked) const noexcept override { return is_marked && is_live(); }

 private:
  std::unique_ptr<driver::listener> open(const driver::limits& until) override {
    return db_.database().listen(who_.owner(), until);
  }
  void ring(const driver::limits& until) override {
    db_.run(
        until,
        [&](const store::access& db) {
          if (db_.can().notifies_waiters) return store::ring(db, who_.owner());
          db_.database().wake(db.session, who_.owner(), until);
        },
        purpose::releasing);
  }
  // A notification for a waiter that has left is passed on, by leaving with a ticket that never existed: the release
  // has notified no other client. Any role that may NOTIFY may send anything: a name for which no thread has waited
  // here is dropped.
  void heard(const std::string& name) override {
    if (!queue_.hint(name) && queue_.take_left(name)) cleanup_.pass_on(name);
  }
  // Of several names, those that may go are found by one look; if it fails, by a try of each.
  void woken(const driver::limits& until) override try {
    meanwhile_.was_rung();
    if (queue_.hint_the_only_name()) return;
    const auto leaders = queue_.leaders();
    db_.run(until, [&](const store::access& db) { tickets_.hint_those_who_may_go(db, leaders); });
  } catch (const error&) {
    queue_.hint_all();
  }
  void falls_asleep() noexcept override { meanwhile_.look_at(base::later(base::now(), while_it_falls_asleep)); }
  void began() override {
    meanwhile_.pause_while(true);
    queue_.hint_all();
  }
  void ended() noexcept override { meanwhile_.pause_while(false); }
  void warn(const std::string& sentence) override { db_.events().warn(sentence); }
  void polling(const error& why) noexcept override { db_.events().polling(why); }

  static constexpr duration while_it_falls_asleep = std::chrono::milliseconds{20};

  gateway& db_;
  const identity& who_;
  local_wait_queue& queue_;
  ticket_upkeep& tickets_;
  ticket_cleanup& cleanup_;
  poll_wakeups& meanwhile_;
};

}  // namespace

wakeups::wakeups(gateway& db, const identity& who, local_wait_queue& queue, ticket_upkeep& tickets,
                 ticket_cleanup& cleanup) {
  const auto news = db.database().news();
  if (news == driver::foreign_news::counted) sources_.push_back(std::make_unique<commit_wakeups>(db, queue, tickets));
  if (news == driver::foreign_news::counted || news == driver::foreign_news::none) return;
  auto poller = std::make_unique<poll_wakeups>(db, queue, tickets);
  auto& meanwhile = *poller;
  sources_.push_back(std::move(poller));
  if (driver::reaches_waiters(news))
    sources_.push_back(std::make_unique<listening_wakeups>(db, who, queue, tickets, cleanup, meanwhile));
}

bool wakeups::is_notified(bool is_marked) const noexcept {
  if (sources_.empty()) return true;  // there are no other processes
  return std::any_of(sources_.begin(), sources_.end(), [&](const auto& each) { return each->notifies(is_marked); });
}

void wakeups::look_sooner() const noexcept {
  for (const auto& each : sources_) each->look_sooner();
}

void wakeups::stop() noexcept {
  for (const auto& each : sources_) each->stop();
}

}  // namespace rowlock::inline v1::engine
