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
  const std::scoped_lock alone{sweeping_};
  if (!leads()) return 0;
  const auto before = *done_.lock();
  rows_ = core::first_rows(options_.batch);
  client_->tidy(stop_.get_token());
  announce();
  bury_tickets();
  sweep_names();
  const auto done = done_.lock();
  if (goes_on()) ++done->sweeps;
  return static_cast<std::size_t>(done->rows - before.rows + done->tickets - before.tickets);
} catch (const error& e) {
  if (is_stopped() && e.code() == errc::cancelled) return 0;
  if (!is_final(e)) ++done_.lock()->failures;
  throw;
}

bool sweeping::leads() {
  if (lead_ && !lead_->lost().stop_requested()) return true;
  lead_.reset();
  lead_ = client_->acquire(lead, lead_options(), std::nullopt, duration::zero(), stop_.get_token());
  if (!lead_ && !is_stopped()) ++done_.lock()->stand_bys;
  return lead_.has_value();
}

bool sweeping::goes_on() const noexcept { return !is_stopped() && !lead_->lost().stop_requested(); }

// `use(sql, session, limits)`; adds to what this step of the sweep has taken.
template <class Use>
auto sweeping::call(Use use) {
  duration took{};
  auto answer = client_->keep_house(stop_.get_token(), took, use);
  took_ += took;
  const auto done = done_.lock();
  done->longest_call = std::max(done->longest_call, took);
  return answer;
}

void sweeping::announce() {
  const auto told = call([](const dialect::table& sql, driver::session& on, const driver::limits& until) {
    return strategies::announce(sql, on, until);
  });
  done_.lock()->announced += told;
  end_step();
}

void sweeping::bury_tickets() {
  for (std::int64_t after = 0; goes_on();) {
    const auto page = call([&](const dialect::table& sql, driver::session& on, const driver::limits& until) {
      return strategies::find_dead(sql, on, after, rows_, until);
    });
    if (page.last == 0) return end_step();
    if (!page.tickets.empty()) {
      const auto gone = call([&](const dialect::table& sql, driver::session& on, const driver::limits& until) {
        return strategies::bury(sql, on, page.tickets, until);
      });
      done_.lock()->tickets += gone;
    }
    after = page.last;
    end_step();
  }
}

// Behind a page that went as a whole, that page is looked at once more, together with the next: PostgreSQL passes by
// what was deleted at a cost, until somebody has come by after the deletion. The next sweep would pay for all of it in
// one call.
void sweeping::sweep_names() {
  std::string from;
  for (std::string after; goes_on();) {
    auto page = call([&](const dialect::table& sql, driver::session& on, const driver::limits& until) {
      return strategies::find_unused(sql, on, from, rows_, options_.retention, until);
    });
    if (page.last.empty()) return end_step();
    std::size_t gone = 0;
    if (!page.names.empty()) {
      gone = call([&](const dialect::table& sql, driver::session& on, const driver::limits& until) {
        return strategies::sweep(sql, on, page.names, options_.retention, until);
      });
      done_.lock()->rows += gone;
    }
    from = gone == rows_ ? after : page.last;
    after = std::move(page.last);
    end_step();
  }
}

// The longer it took, the longer the database is left to others.
void sweeping::end_step() {
  const auto took = std::exchange(took_, {});
  rows_ = core::next_rows(rows_, took, options_.batch);
  rest(core::sweep_pause(took));
}

void sweeping::rest(duration d) {
  std::unique_lock lock{resting_};
  driver::wait_until(stopped_, lock, core::later(driver::now(), d), stop_.get_token(), [] { return false; });
}

}  // namespace rowlock::inline v1::runtime
