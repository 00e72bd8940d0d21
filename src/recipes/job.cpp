#include <rowlock/job.hpp>

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "api/inside.hpp"
#include "base/boot_clock.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/error_detail.hpp"
#include "core/job_options.hpp"
#include "core/period.hpp"
#include "core/wait.hpp"
#include "engine/client_core.hpp"
#include "store/inspection.hpp"
#include "store/jobs.hpp"
#include "store/leases.hpp"
#include "store/schema.hpp"

namespace rowlock::inline v1 {

namespace {

using core_ptr = std::shared_ptr<engine::client_core>;
using time = std::chrono::sys_time<duration>;

// The end of the text, in whole characters.
std::string end_of(std::string_view text) {
  constexpr std::size_t most = 1024;
  std::string out;
  for (text.remove_prefix(text.size() - std::min(text.size(), most)); !text.empty();) {
    const auto next = base::first_of(text);
    out.append(next.size == 0 || next.value == 0 ? "?" : text.substr(0, next.size));
    text.remove_prefix(std::max(next.size, std::size_t{1}));
  }
  return out;
}

job_status status_of(const job_run& ended) {
  switch (ended.result) {
    case job_result::running:
      return job_status::begun;
    case job_result::succeeded:
      return job_status::succeeded;
    case job_result::failed:
    case job_result::killed:
      return job_status::failed;
    case job_result::timed_out:
      return job_status::timed_out;
    case job_result::lost:
      break;
  }
  return job_status::lost;
}

const job_run* run_under(fencing_token token, const std::vector<job_run>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const job_run& r) { return r.token == token; });
  return found == runs.end() ? nullptr : &*found;
}

bool may_be_repeated(const error& e) { return e.is_retryable() || e.outcome_is_unknown(); }

bool is_about_the_end(const error& e) { return e.code() == errc::lock_lost || e.code() == errc::cancelled; }

/// Requests a stop after a time.
class timeout_watch {
 public:
  timeout_watch(std::optional<duration> limit, const std::stop_source& end) {
    if (!limit) return;
    const auto deadline = base::later(base::now(), *limit);
    thread_ = base::start_thread([this, deadline, end](const std::stop_token& over) {
      base::rest(deadline, over);
      has_fired_ = base::now() >= deadline;
      if (has_fired_) std::stop_source{end}.request_stop();
    });
  }
  timeout_watch(const timeout_watch&) = delete;
  timeout_watch& operator=(const timeout_watch&) = delete;
  ~timeout_watch() = default;

  /// Ends it. Whether the time was over.
  bool has_fired() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
    return has_fired_;
  }

 private:
  std::atomic<bool> has_fired_{false};
  std::jthread thread_;
};

}  // namespace

struct job::state {
  state(core_ptr of, lock_name what, job_options how)
      : client{std::move(of)}, name{std::move(what)}, options{std::move(how)}, periods{core::periods_of(options)} {
    options.lock = detail::seen_by_all(std::move(options.lock));
  }

  template <class Use>
  auto ask(Use use) const {
    const engine::gateway::call under_way{client->db};
    return client->db.run(client->db.call_limits(), use);
  }
  void check(const held_lock& by) const;
  template <class Write, class Judge>
  job_outcome resolve(const held_lock& by, time begin, Write write, Judge judge) const;
  bool is_lost(const held_lock& by) const;
  std::optional<job_outcome> may_begin(const store::found_runs& found, fencing_token token, const core::period& in,
                                       duration asked_ago) const;
  void pause(duration d, const std::stop_token& stop) const {
    client->db.pause_until(base::later(base::now(), d), stop);
    client->db.check_usable();
  }

  struct answer {
    job_outcome outcome;
    bool has_run = false;
    std::exception_ptr thrown{};
  };
  answer run_once(job& self, const work& todo, base::instant asked, const std::stop_token& stop) const;
  job_ending carry_out(const work& todo, const held_lock& under, const std::stop_token& stop,
                       std::exception_ptr& thrown) const;

  const core_ptr client;
  const lock_name name;
  job_options options;
  const core::schedule periods;
};

job::job(client& of, lock_name name, job_options options) {
  state_ = std::make_unique<state>(detail::inside::of(of), std::move(name), std::move(options));
}

job::~job() = default;

const lock_name& job::name() const noexcept { return state_->name; }

// --- one run ---------------------------------------------------------------------------------------------------------

void job::state::check(const held_lock& by) const {
  const auto& lease = *detail::inside::lease_of(by);
  client->db.check_usable();
  if (by.name() != name)
    throw error{errc::invalid_option,
                "the lock " + base::quoted(by.name().view()) + " is not that of the job " + base::quoted(name.view())};
  if (!lease.has_lease || lease.is_shared)
    throw error{errc::unsupported, "the run of a job is recorded under an exclusive lease, and this lock is held by " +
                                       std::string{lease.has_lease ? "several clients" : "a transaction"}};
}

// Whether the database shows that the lock is lost. That is final.
bool job::state::is_lost(const held_lock& by) const {
  return ask([&](const store::access& db) {
    return store::standing_of(store::look_at(db, name.view()), detail::inside::lease_of(by)->id.text()).what ==
           store::standing::lost;
  });
}

// Sends `write` until the runs of the period answer, by `judge(found)`. Both writes do nothing if they were carried
// out, or if the lock is not held in the database. So they may be repeated after a lost reply, and a statement that is
// late, or a process that was paused, does no harm. If the row of the lock was locked by another session, nothing was
// written, and that is tried again. Once the lock is lost in the database, it is lost for good, and nothing more is
// written: so what the runs show after that is final.
template <class Write, class Judge>
job_outcome job::state::resolve(const held_lock& by, time begin, Write write, Judge judge) const {
  const auto deadline = base::later(base::now(), client->options().call_timeout);
  std::optional<error> doubt;  // a write may still be carried out
  bool was_lost = false;       // before the runs are read
  for (int tries = 1, failures = 0;; ++tries) {
    const bool is_held = by.why_lost() == loss_reason::none;
    std::optional<error> failure;
    try {
      try {
        if (is_held && !was_lost) ask(write);
      } catch (const error& e) {
        if (!may_be_repeated(e)) throw;
        if (e.outcome_is_unknown()) doubt = e;
      }
      const auto found = ask([&](const store::access& db) { return store::find_runs(db, name.view(), begin); });
      if (const auto out = judge(found)) return *out;
      if (was_lost || (!is_held && !doubt)) return {.what = job_status::lost};
      was_lost = is_lost(by);
      if (was_lost) continue;
    } catch (const error& e) {
      if (!may_be_repeated(e)) throw;
      failure = e;
    }
    if (!is_held) throw doubt ? *doubt : *failure;
    if (!failure && !doubt && base::now() >= deadline)
      throw error{errc::call_timed_out,
                  "another transaction keeps the row of " + base::quoted(name.view()) + " locked; try again"};
    pause(failure ? core::error_pause(++failures, base::jitter()) : core::inconclusive_pause(tries), by.lost());
  }
}

std::optional<job_outcome> job::state::may_begin(const store::found_runs& found, fencing_token token,
                                                 const core::period& in, duration asked_ago) const {
  const auto& runs = found.runs;
  const auto now = found.now;
  if (const auto* own = run_under(token, runs))
    return job_outcome{.what = own->finished_at ? status_of(*own) : job_status::begun, .run = *own};
  if (runs.empty()) return std::nullopt;
  const auto until = [&](time t) { return std::max(t - now, duration::zero()); };
  const auto in_the_next = [&](job_status why, const job_run& of) {
    const bool is_early = core::is_for_the_next(in, now - asked_ago, of.started_at, core::early_by(options));
    return job_outcome{.what = is_early ? job_status::due_soon : why, .run = of, .again_in = until(in.end)};
  };
  for (const auto& each : runs)
    if (each.result == job_result::succeeded) return in_the_next(job_status::already_succeeded, each);
  const auto& last = runs.front();
  if (last.attempt > options.retries) return in_the_next(job_status::attempts_used_up, last);
  if (last.finished_at && *last.finished_at <= now && now < *last.finished_at + options.retry_wait)
    return job_outcome{
        .what = job_status::too_early, .run = last, .again_in = until(*last.finished_at + options.retry_wait)};
  return std::nullopt;
}

job_outcome job::begin(const held_lock& by, duration asked_ago) {
  const auto& s = *state_;
  s.check(by);
  const std::string acquisition{detail::inside::lease_of(by)->id.text()};
  const store::job_lock lock{.name = s.name.view(), .acquisition = acquisition, .token = by.token()};
  const auto in = s.periods.at(s.ask(store::read_clock));
  auto out = s.resolve(
      by, in.begin,
      [&](const store::access& db) {
        store::close_runs(db, lock);
        store::begin_run(db, lock, in, s.options.retries + 1, s.options.retry_wait);
      },
      [&](const store::found_runs& found) { return s.may_begin(found, lock.token, in, asked_ago); });
  if (out.what != job_status::begun || out.run->result == job_result::running) return out;
  if (s.is_lost(by))  // otherwise a thread handed the lock over, and its row has another token
    out.what = job_status::lost;
  else
    out.run->result = job_result::running;
  return out;
}

job_outcome job::finish(const held_lock& by, const job_run& begun, const job_ending& how) {
  const auto& s = *state_;
  s.check(by);
  if (how.result == job_result::running || how.result == job_result::lost)
    throw error{errc::invalid_option, "a run does not end as " + std::string{to_string(how.result)}};
  const std::string acquisition{detail::inside::lease_of(by)->id.text()};
  const store::job_lock lock{.name = s.name.view(), .acquisition = acquisition, .token = by.token()};
  auto ending = how;
  ending.output = end_of(how.output);
  auto out = s.resolve(
      by, begun.period_begin, [&](const store::access& db) { store::end_run(db, lock, begun.period_begin, ending); },
      [&](const store::found_runs& found) -> std::optional<job_outcome> {
        const auto* own = run_under(begun.token, found.runs);
        if (own == nullptr) return job_outcome{.what = job_status::lost};
        if (!own->finished_at) return std::nullopt;
        return job_outcome{.what = status_of(*own), .run = *own};
      });
  if (!out.run) {
    out.run = begun;
    out.run->result = job_result::lost;
  }
  return out;
}

// --- a call ----------------------------------------------------------------------------------------------------------

// The end of the work, if the lock is still held then.
job_ending job::state::carry_out(const work& todo, const held_lock& under, const std::stop_token& stop,
                                 std::exception_ptr& thrown) const {
  job_ending out;
  std::stop_source end;
  const detail::relayed by_stop{stop, detail::relay{end}};
  const detail::relayed by_loss{under.lost(), detail::relay{end}};
  timeout_watch watch{options.timeout, end};
  bool is_silent = false;
  try {
    todo(end.get_token(), under);
  } catch (const std::exception& e) {
    const auto* const own = dynamic_cast<const error*>(&e);
    is_silent = own != nullptr && is_about_the_end(*own);
    thrown = std::current_exception();
    out = {.result = job_result::failed, .output = e.what()};
  } catch (...) {
    thrown = std::current_exception();
    out = {.result = job_result::failed, .output = "an exception that is no std::exception"};
  }
  const bool is_over = watch.has_fired();
  if (is_over) out.result = job_result::timed_out;
  if (is_silent && (is_over || under.why_lost() != loss_reason::none)) thrown = nullptr;
  return out;
}

job::state::answer job::state::run_once(job& self, const work& todo, base::instant asked,
                                        const std::stop_token& stop) const {
  const auto held =
      detail::inside::held(client, client->acquiring.acquire(name, options.lock, std::nullopt, options.wait, stop));
  if (!held) return {};
  answer out{.outcome = self.begin(*held, base::now() - asked)};
  if (out.outcome.what != job_status::begun) return out;
  out.has_run = true;
  const auto how = carry_out(todo, *held, stop, out.thrown);
  out.outcome = self.finish(*held, *out.outcome.run, how);
  return out;
}

job_outcome job::run(const work& todo, std::stop_token stop) {
  const auto& s = *state_;
  const auto asked = base::now();
  state::answer last;
  for (int runs = 0;;) {
    auto one = s.run_once(*this, todo, asked, stop);
    if (!one.has_run) {
      const bool is_worth_waiting =
          one.outcome.what == job_status::due_soon ||
          (one.outcome.what == job_status::too_early && (runs > 0 || one.outcome.again_in <= s.options.wait));
      if (is_worth_waiting && !stop.stop_requested()) {
        s.pause(one.outcome.again_in, stop);
        continue;
      }
      if (runs == 0 || one.outcome.what == job_status::already_succeeded) return one.outcome;
      break;
    }
    last = std::move(one);
    const bool is_last = last.outcome.run->attempt > s.options.retries || ++runs > s.options.retries;
    if (last.outcome.what == job_status::succeeded || is_last || stop.stop_requested()) break;
    s.pause(s.options.retry_wait, stop);
  }
  if (last.thrown) std::rethrow_exception(last.thrown);
  return last.outcome;
}

// --- looking ---------------------------------------------------------------------------------------------------------

std::vector<job_run> job::history(std::size_t most, runs_of which) {
  return state_->ask([&](const store::access& db) {
    return store::list_runs(db, name().view(), std::string{name().view()} + '\x01', most,
                            which);  // no text comes between the two
  });
}

std::vector<job_run> list_job_runs(client& of, std::size_t most, runs_of which) {
  const auto core = detail::inside::of(of);
  const engine::gateway::call under_way{core->db};
  return core->db.run(core->db.call_limits(),
                      [&](const store::access& db) { return store::list_runs(db, {}, std::nullopt, most, which); });
}

}  // namespace rowlock::inline v1
