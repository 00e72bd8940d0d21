#include <rowlock/sweeper.hpp>

#include <rowlock/error.hpp>
#include <rowlock/events.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "api/inside.hpp"
#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"
#include "core/error_detail.hpp"
#include "core/wait.hpp"
#include "engine/client_core.hpp"
#include "store/housekeeping.hpp"
#include "store/jobs.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1 {

namespace {

constexpr const char* lock_of_sweepers = "rowlock:sweeper";

// Nothing depends on two sweepers not sweeping at once: the lock only saves work.
lock_options lead_options() {
  return {.lease = core::sweeper_lease, .note = "the active sweeper; the others stand by"};
}

}  // namespace

/// A sweeper: a thread, the lock that only one of all sweepers holds, and its order through the tables.
///
///   standing by --acquires the lock--> sweeping: every interval --the lock is lost--> standing by
struct sweeper::state {
  state(std::shared_ptr<engine::client_core> of, const sweeper_options& options);
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { stop(); }

  void start();
  /// Throws the database's errors; throws nothing if stop() ended it.
  std::size_t sweep_once();
  sweeper_statistics statistics() { return *done_.lock(); }
  void stop() noexcept;
  bool is_foreign() const noexcept { return client_->is_foreign(); }

 private:
  void run();
  bool leads();
  void purge_tickets();
  void purge_shares();
  void notify_waiters();
  void sweep_names();
  void forget_runs();
  void count(std::uint64_t sweeper_statistics::*what, engine::counters::number& of_client, std::size_t number);
  template <class Use>
  auto call(duration& shortest, Use use);
  void end_step();
  bool is_stopped() const noexcept { return stop_.stop_requested(); }
  bool goes_on() const noexcept;
  void rest(duration d);

  const std::shared_ptr<engine::client_core> client_;
  const sweeper_options options_;
  std::stop_source stop_;
  std::mutex sweeping_;  // one sweep at a time; guards the following
  engine::lease_ptr lead_;
  std::size_t rows_ = 0;  // that the next step looks at
  duration cost_{};       // of this step so far
  duration shortest_look_ = duration::max();
  duration shortest_deletion_ = duration::max();
  std::string swept_to_;  // empty: to the end
  base::guarded<sweeper_statistics> done_;
  base::guarded<std::jthread> thread_;
};

sweeper::state::state(std::shared_ptr<engine::client_core> of, const sweeper_options& options)
    : client_{std::move(of)}, options_{options} {
  client_->db.check_usable();
  core::check(options_, client_->options());
}

void sweeper::state::start() {
  *thread_.lock() = base::start_thread([this] { run(); });
}

// Does not wait for the database: if the lock is not released, its lease ends.
void sweeper::state::stop() noexcept {
  stop_.request_stop();
  std::exchange(*thread_.lock(), {});  // joins it
  const std::scoped_lock alone{sweeping_};
  if (lead_) client_->locks.release_soon(std::exchange(lead_, nullptr));
}

void sweeper::state::run() {
  for (auto pause = core::first_sweep(options_.every, base::jitter());;
       pause = core::sweep_interval(options_.every, base::jitter())) {
    rest(pause);
    if (is_stopped()) return;
    try {
      sweep_once();
    } catch (const error& e) {
      if (detail::is_end_of_client(e)) return;
      if (!is_stopped()) client_->events.report({events::sweep_failed{.cause = e}});
    } catch (const std::exception& e) {
      client_->events.report({events::sweep_failed{.cause = {errc::database_error, e.what()}}});
    }
  }
}

std::size_t sweeper::state::sweep_once() try {
  client_->db.check_usable();
  const std::scoped_lock alone{sweeping_};
  if (!leads()) return 0;
  const auto before = *done_.lock();
  const base::instant began = base::now();
  rows_ = core::first_rows(options_.batch);
  cost_ = {};
  purge_tickets();
  purge_shares();
  notify_waiters();
  sweep_names();
  forget_runs();
  const auto done = done_.lock();
  const events::swept now{.rows = done->rows - before.rows,
                          .tickets = done->tickets - before.tickets,
                          .runs = done->runs - before.runs,
                          .took = base::now() - began};
  if (goes_on()) {
    ++done->sweeps;
    engine::counters::count(client_->events.numbers().sweeps);
    client_->events.tell([&] { return now; });
  }
  return static_cast<std::size_t>(now.rows + now.tickets + now.runs);
} catch (const error& e) {
  if (is_stopped() && e.code() == errc::cancelled) return 0;
  if (!detail::is_end_of_client(e)) ++done_.lock()->failures;
  throw;
}

bool sweeper::state::leads() {
  if (lead_ && lead_->is_held_at(base::now())) return true;
  if (lead_) client_->locks.release_soon(std::exchange(lead_, nullptr));
  lead_ = client_->acquiring.try_for_client(lock_of_sweepers, lead_options(), stop_.get_token());
  if (!lead_ && !is_stopped()) ++done_.lock()->stand_bys;
  return lead_ != nullptr;
}

bool sweeper::state::goes_on() const noexcept { return !is_stopped() && lead_->is_held_at(base::now()); }

// Runs `use(db)`, and adds the time to the cost of this step of the sweep. The round trip is a part of each call's time
// that fewer rows would not make shorter, so it does not count.
template <class Use>
auto sweeper::state::call(duration& shortest, Use use) {
  const engine::gateway::call under_way{client_->db};
  duration took{};
  auto answer = client_->db.run(client_->db.call_limits(stop_.get_token()), [&](const store::access& db) {
    const base::instant began = base::now();
    auto out = use(db);
    took = base::now() - began;
    return out;
  });
  shortest = std::min(shortest, took);
  cost_ += took - shortest;
  const auto done = done_.lock();
  done->longest_call = std::max(done->longest_call, took);
  return answer;
}

void sweeper::state::count(std::uint64_t sweeper_statistics::*what, engine::counters::number& of_client,
                           std::size_t number) {
  engine::counters::count(of_client, number);
  (*done_.lock()).*what += number;
}

void sweeper::state::purge_tickets() {
  for (auto after = core::ticket_number::none; goes_on(); end_step()) {
    const auto page = call(shortest_look_, [&](const store::access& db) { return store::find_dead(db, after, rows_); });
    if (page.last <= after) return;
    if (!page.tickets.empty())
      count(&sweeper_statistics::tickets, client_->events.numbers().swept_tickets,
            call(shortest_deletion_, [&](const store::access& db) { return store::purge_tickets(db, page.tickets); }));
    after = page.last;
  }
  if (goes_on()) call(shortest_deletion_, [](const store::access& db) { return store::purge_held(db), 0; });
}

// A row whose holders are alive is not changed, except that the permits of dead holders are taken off.
void sweeper::state::purge_shares() {
  for (std::string after; goes_on(); end_step()) {
    auto page =
        call(shortest_look_, [&](const store::access& db) { return store::find_dead_shares(db, after, rows_); });
    if (page.empty()) return;
    after = page.back();
    std::erase_if(
        page, [](const std::string& name) { return name.empty() || name.size() > 255 || !base::is_plain_text(name); });
    client_->locks.reap_shares(std::vector<lock_name>{page.begin(), page.end()},
                               client_->db.call_limits(stop_.get_token()));
    call(shortest_deletion_, [&](const store::access& db) {
      for (const auto& name : page) store::purge_shares(db, name);
      return page.size();
    });
  }
}

void sweeper::state::notify_waiters() {
  for (std::string after; goes_on(); end_step()) {
    auto page = call(shortest_look_, [&](const store::access& db) { return store::notify_waiters(db, after, rows_); });
    if (page.last <= after) return;
    done_.lock()->announced += page.notified;
    after = std::move(page.last);
  }
}

// After an error the next sweep continues at the same place. After a page that was deleted as a whole, that page is
// looked at once more, together with the next: in PostgreSQL deleted rows cost each reader until one has read them
// after the deletion. Otherwise the next sweep would pay for all of them in one call.
void sweeper::state::sweep_names() {
  for (std::string from = swept_to_; goes_on(); end_step()) {
    auto page = call(shortest_look_,
                     [&](const store::access& db) { return store::find_unused(db, from, rows_, options_.retention); });
    if (page.last <= from) return swept_to_.clear();
    client_->events.invalid_names(page.invalid_names);
    std::size_t gone = 0;
    if (!page.names.empty()) {
      gone =
          call(shortest_deletion_, [&](const store::access& db) { return store::sweep(db, page, options_.retention); });
      count(&sweeper_statistics::rows, client_->events.numbers().swept_rows, gone);
    }
    from = gone == rows_ ? swept_to_ : page.last;
    swept_to_ = std::move(page.last);
  }
}

void sweeper::state::forget_runs() {
  for (; goes_on(); end_step()) {
    const auto gone = call(shortest_deletion_, [&](const store::access& db) {
      return store::forget_runs(db, options_.kept_runs, options_.run_retention, rows_);
    });
    count(&sweeper_statistics::runs, client_->events.numbers().swept_runs, gone);
    if (gone < rows_) return;
  }
}

// The more it cost, the longer the database is left to other clients.
void sweeper::state::end_step() {
  const auto cost = std::exchange(cost_, {});
  rows_ = core::next_rows(rows_, cost, options_.batch);
  rest(core::sweep_pause(cost));
}

void sweeper::state::rest(duration d) { base::rest(base::later(base::now(), d), stop_.get_token()); }

// --- the public class
// --------------------------------------------------------------------------------------------------

sweeper::sweeper(client& of, sweeper_options options)
    : state_{std::make_unique<state>(detail::inside::of(of), options)} {
  state_->start();
}

// In a child of a fork it is never destroyed: its thread does not exist there and cannot be joined.
sweeper::~sweeper() {
  if (state_->is_foreign()) (void)state_.release();
}

std::size_t sweeper::sweep_once() { return state_->sweep_once(); }

sweeper_statistics sweeper::statistics() const {
  return state_->is_foreign() ? sweeper_statistics{} : state_->statistics();
}

void sweeper::stop() noexcept {
  if (!state_->is_foreign()) state_->stop();
}

}  // namespace rowlock::inline v1
