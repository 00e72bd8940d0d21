#include "runtime/sweeping.hpp"

#include <rowlock/error.hpp>
#include <rowlock/events.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "api/inside.hpp"
#include "core/checks.hpp"
#include "core/sweep.hpp"
#include "driver/boot_clock.hpp"
#include "driver/waits.hpp"
#include "runtime/jitter.hpp"
#include "strategy/housekeeping.hpp"

namespace rowlock::inline v1::runtime {

namespace {

constexpr const char* lead = "rowlock:sweeper";

// Nothing depends on two of them not sweeping at once: the lock is to save work.
lock_options lead_options() {
  return {.lease = core::sweeper_lease, .note = "the sweeper that is at work; others stand by"};
}

bool is_final(const error& e) { return e.code() == errc::client_closed || e.code() == errc::used_after_fork; }

}  // namespace

sweeping::sweeping(std::shared_ptr<detail::client_impl> of, const sweeper_options& options)
    : client_{std::move(of)}, options_{options} {
  client_->check_usable();
  core::check(options_, client_->options());
}

void sweeping::start() {
  *thread_.lock() = std::jthread{[this] { run(); }};
}

// Nobody waits for the database: if the lock is not released, its lease ends.
void sweeping::stop() noexcept {
  stop_.request_stop();
  std::exchange(*thread_.lock(), {});  // joins it
  const std::scoped_lock alone{sweeping_};
  if (lead_) client_->release_soon(detail::inside::take(*std::exchange(lead_, std::nullopt)));
}

void sweeping::run() {
  for (auto pause = core::first_sweep(options_.every, jitter());;
       pause = core::sweep_interval(options_.every, jitter())) {
    rest(pause);
    if (is_stopped()) return;
    try {
      sweep_once();
    } catch (const error& e) {
      if (is_final(e)) return;
      if (!is_stopped()) client_->report({events::sweep_failed{.cause = e}});
    } catch (const std::exception& e) {
      client_->report({events::sweep_failed{.cause = {errc::database_error, e.what()}}});
    }
  }
}

std::size_t sweeping::sweep_once() try {
  client_->check_usable();
  const std::scoped_lock alone{sweeping_};
  if (!leads()) return 0;
  const auto before = *done_.lock();
  const core::instant began = driver::now();
  rows_ = core::first_rows(options_.batch);
  cost_ = {};
  bury_tickets();
  announce();
  sweep_names();
  const auto done = done_.lock();
  const events::swept now{
      .rows = done->rows - before.rows, .tickets = done->tickets - before.tickets, .took = driver::now() - began};
  if (goes_on()) {
    ++done->sweeps;
    client_->has_swept(now);
  }
  return static_cast<std::size_t>(now.rows + now.tickets);
} catch (const error& e) {
  if (is_stopped() && e.code() == errc::cancelled) return 0;
  if (!is_final(e)) ++done_.lock()->failures;
  throw;
}

bool sweeping::leads() {
  if (lead_ && !lead_->lost().stop_requested()) return true;
  lead_.reset();
  lead_ = client_->try_acquire_for_itself(lead, lead_options(), stop_.get_token());
  if (!lead_ && !is_stopped()) ++done_.lock()->stand_bys;
  return lead_.has_value();
}

bool sweeping::goes_on() const noexcept { return !is_stopped() && !lead_->lost().stop_requested(); }

// `use(sql, session, limits)`; adds to what this step of the sweep has cost. What every such call takes is the way to
// the database and back: fewer rows would not make it shorter.
template <class Use>
auto sweeping::call(duration& shortest, Use use) {
  duration took{};
  auto answer = client_->keep_house(stop_.get_token(), took, use);
  shortest = std::min(shortest, took);
  cost_ += took - shortest;
  const auto done = done_.lock();
  done->longest_call = std::max(done->longest_call, took);
  return answer;
}

void sweeping::bury_tickets() {
  for (std::int64_t after = 0; goes_on(); end_step()) {
    const auto page = call(shortest_look_, [&](auto& sql, auto& on, const auto& until) {
      return strategies::find_dead(sql, on, after, rows_, until);
    });
    if (page.last <= after) return;
    if (!page.tickets.empty()) {
      const auto gone = call(shortest_deletion_, [&](auto& sql, auto& on, const auto& until) {
        return strategies::bury(sql, on, page.tickets, until);
      });
      done_.lock()->tickets += gone;
      client_->swept(0, gone);
    }
    after = page.last;
  }
}

void sweeping::announce() {
  for (std::string after; goes_on(); end_step()) {
    auto page = call(shortest_look_, [&](auto& sql, auto& on, const auto& until) {
      return strategies::announce(sql, on, after, rows_, until);
    });
    if (page.last <= after) return;
    done_.lock()->announced += page.told;
    after = std::move(page.last);
  }
}

// It goes on where an error has ended the last one. Behind a page that went as a whole, that page is looked at once
// more, together with the next: PostgreSQL passes by what was deleted at a cost, until somebody has come by after the
// deletion. The next sweep would pay for all of it in one call.
void sweeping::sweep_names() {
  for (std::string from = swept_to_; goes_on(); end_step()) {
    auto page = call(shortest_look_, [&](auto& sql, auto& on, const auto& until) {
      return strategies::find_unused(sql, on, from, rows_, options_.retention, until);
    });
    if (page.last <= from) return swept_to_.clear();
    client_->report_odd(page.odd);
    std::size_t gone = 0;
    if (!page.names.empty()) {
      gone = call(shortest_deletion_, [&](auto& sql, auto& on, const auto& until) {
        return strategies::sweep(sql, on, page.names, options_.retention, until);
      });
      done_.lock()->rows += gone;
      client_->swept(gone, 0);
    }
    from = gone == rows_ ? swept_to_ : page.last;
    swept_to_ = std::move(page.last);
  }
}

// The more it cost, the longer the database is left to others.
void sweeping::end_step() {
  const auto cost = std::exchange(cost_, {});
  rows_ = core::next_rows(rows_, cost, options_.batch);
  rest(core::sweep_pause(cost));
}

void sweeping::rest(duration d) {
  std::unique_lock lock{resting_};
  driver::wait_until(stopped_, lock, core::later(driver::now(), d), stop_.get_token(), [] { return false; });
}

}  // namespace rowlock::inline v1::runtime
