#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "core/checks.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"
#include "runtime/jitter.hpp"
#include "strategy/inspection.hpp"

namespace rowlock::inline v1::detail {

/// What somebody wants.
struct client_impl::wish {
  const lock_name& name;
  const lock_options& options;
  holder by;
  bool is_reentrant;
};

struct client_impl::tried {
  std::optional<held_lock> held{};
  std::optional<duration> left{};  ///< of the holder's lease, where it is busy
};

/// What a wait has seen so far, and so when it tries next.
class client_impl::patience {
 public:
  patience(core::instant deadline, driver::foreign_news news) : deadline_{deadline}, next_{deadline}, news_{news} {}

  core::instant deadline() const noexcept { return deadline_; }
  core::instant next_try() const noexcept { return next_; }
  bool is_over() const noexcept { return driver::now() >= deadline_; }

  void was_busy(std::optional<duration> left) {
    failure_.reset();
    failures_ = 0;
    has_answer_ = true;
    if (news_ == driver::foreign_news::asked) {
      pause(core::poll_pause(driver::now() - begin_, left, runtime::jitter()));
    } else {
      pause(core::busy_pause(left, runtime::jitter()));
    }
  }
  void failed(const error& e) {
    failure_ = e;
    pause(core::error_pause(++failures_, runtime::jitter()));
  }
  void throw_if_never_answered() const {
    if (failure_ && !has_answer_) throw error{*failure_};
  }

 private:
  void pause(duration d) { next_ = std::min(deadline_, core::later(driver::now(), d)); }

  core::instant begin_ = driver::now();
  core::instant deadline_;
  core::instant next_;
  driver::foreign_news news_;
  std::optional<error> failure_;
  int failures_ = 0;
  bool has_answer_ = false;
};

std::optional<held_lock> client_impl::acquire(const lock_name& name, const lock_options& options,
                                              const std::optional<holder>& by, duration wait,
                                              const std::stop_token& stop) {
  core::check(options);
  check_usable();
  const runtime::traffic::call under_way{calls_};
  check_usable();  // close() waits for those that come this far
  if (stop.stop_requested()) return std::nullopt;
  const wish what{.name = name, .options = options, .by = by ? *by : holder::unique(), .is_reentrant = by.has_value()};
  if (auto held = again(what)) return held;
  if (wait <= duration::zero()) return try_only_once(what, stop);
  return wait_for(what, core::later(driver::now(), wait), stop);
}

std::optional<held_lock> client_impl::again(const wish& what) {
  if (!what.is_reentrant) return std::nullopt;
  auto a = holdings_.again(what.name, what.by, driver::now());
  return a ? std::optional{held_lock{std::move(a)}} : std::nullopt;
}

std::optional<held_lock> client_impl::try_only_once(const wish& what, const std::stop_token& stop) try {
  return try_once(what, call_limits(stop)).held;
} catch (const error& e) {
  if (e.code() == errc::cancelled && stop.stop_requested()) return std::nullopt;
  throw;
}

// Only a try that finds nobody waiting may go before the line. In the line: listen, try, sleep, so that no release
// between the try and the sleep is missed.
std::optional<held_lock> client_impl::wait_for(const wish& what, core::instant deadline, const std::stop_token& stop) {
  patience so_far{deadline, database_->news()};
  if (line_.is_empty(what.name))
    if (auto held = try_while_waiting(what, so_far, stop)) return held;
  const runtime::hint_watch::subscription foreign_hints{hints_};
  runtime::waiting_line::place place{line_, what.name};
  for (;;) {
    const auto outcome = place.wait(so_far.next_try(), stop);
    check_usable();
    if (outcome == runtime::waiting_line::outcome::stopped) return std::nullopt;
    if (outcome == runtime::waiting_line::outcome::out_of_time && so_far.is_over()) {
      so_far.throw_if_never_answered();
      return std::nullopt;
    }
    place.listen();
    if (auto held = again(what)) return held;
    if (auto held = try_while_waiting(what, so_far, stop)) return held;
  }
}

std::optional<held_lock> client_impl::try_while_waiting(const wish& what, patience& so_far,
                                                        const std::stop_token& stop) try {
  driver::limits until = call_limits(stop);
  const auto least = core::later(driver::now(), database_->least_call());
  until.deadline = std::min(until.deadline, std::max(so_far.deadline(), least));
  auto result = try_once(what, until);
  if (!result.held) so_far.was_busy(result.left);
  return std::move(result.held);
} catch (const error& e) {
  const bool stopped = e.code() == errc::cancelled && stop.stop_requested();
  if (!stopped && !e.is_retryable() && !e.outcome_is_unknown()) throw;
  so_far.failed(e);
  return std::nullopt;
}

client_impl::tried client_impl::try_once(const wish& what, const driver::limits& until) {
  for (int tries = 1;; ++tries) {
    const std::string id = ids_.next();
    const core::instant sent = driver::now();
    const auto answer = ask(what, id, until);
    if (answer.what == strategies::verdict::busy) return {.left = answer.left};
    if (answer.what == strategies::verdict::granted)
      if (auto held = keep(what, id, sent, answer)) return {.held = std::move(held)};
    if (tries == core::inconclusive_tries) return {};
    std::this_thread::sleep_for(core::inconclusive_pause(tries));
  }
}

namespace {

// To find out what became of a call that was cut, and to end its session before it comes true after all.
driver::limits leaving_a_tenth(driver::limits until) {
  until.deadline -= std::max<duration>(until.deadline - driver::now(), duration::zero()) / 10;
  return until;
}

}  // namespace

strategies::answer client_impl::ask(const wish& what, const std::string& id, const driver::limits& until) try {
  check_usable();
  const strategies::attempt one{.name = what.name.view(),
                                .owner = owner_,
                                .thread = what.by.text(),
                                .acquisition = id,
                                .note = what.options.note,
                                .lease = what.options.lease};
  const auto first = leaving_a_tenth(until);
  return on_session(first, [&](driver::session& on) { return unique_index_.acquire(on, {&one, 1}, first).at(0); });
} catch (const error& e) {
  if (!e.outcome_is_unknown()) throw;
  if (auto granted = adopt(what, id, until)) return *granted;
  auto entry = to_undo(what.name, id, what.options.lease, driver::now());
  entry.may_appear = true;
  undo_later(std::move(entry));
  throw;
}

// The reply was lost; was the lock? A row that carries the id is ours. Where there is none, the statement may be under
// way yet: then it is undone, not believed in. Whatever is adopted here is not on the undo list.
std::optional<strategies::answer> client_impl::adopt(const wish& what, const std::string& id,
                                                     const driver::limits& until) noexcept try {
  if (driver::now() >= until.deadline || until.stop.stop_requested()) return std::nullopt;
  return on_session(until, [&](driver::session& on) -> std::optional<strategies::answer> {
    database_->end_lost_sessions(on, until);
    const auto row = strategies::look_at(sql_, on, what.name.view(), until);
    if (!row || !row->is_held_by(id)) return std::nullopt;
    return strategies::answer{.what = strategies::verdict::granted, .token = row->token, .left = row->left};
  });
} catch (const std::exception&) {
  return std::nullopt;
}

// nullopt: the answer took so long that the lease is not to be believed in.
std::optional<held_lock> client_impl::keep(const wish& what, const std::string& id, core::instant sent,
                                           const strategies::answer& granted) {
  const duration lease = what.options.lease;
  const auto a = std::make_shared<acquisition>(shared_from_this(), what.name, what.by, id, what.options);
  a->token = granted.token;
  a->set_left(sent, granted.left.value_or(lease), driver::now());
  a->set_renewal_due(core::renewal_due(sent, lease));
  if (a->deadline() <= driver::now()) {
    undo_later(to_undo(what.name, id, lease, driver::now()));
    return std::nullopt;
  }
  if (!holdings_.add(a, what.is_reentrant)) {  // closed since
    release_row(*a);
    check_usable();
  }
  watchdog_.arm(a->deadline());
  if (a->renews) keeper_.arm(a->renewal_due());
  if (what.options.as) line_.hint_everybody(what.name);  // the same holder may wait there more than once
  return held_lock{a};
}

}  // namespace rowlock::inline v1::detail
