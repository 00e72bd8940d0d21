#include <rowlock/openmetrics.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/events/telemetry.hpp"

namespace rowlock::inline v1 {

namespace {

using label = std::pair<std::string_view, std::string_view>;

// Exactly, and the same in every locale: "0.00025", "2.5", "60.0". Negative where the database's clock was set back.
std::string in_seconds(duration d) {
  constexpr std::size_t places = 6;
  if (d < duration::zero()) return "-" + in_seconds(-d);
  std::string digits = std::to_string(d.count());
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  digits.insert(digits.size() - places, 1, '.');
  const auto last = digits.find_last_not_of('0');
  digits.erase(digits[last] == '.' ? last + 2 : last + 1);
  return digits;
}

/// OpenMetrics text, family by family.
class page {
 public:
  /// A family; `unit` is empty if its values are plain numbers.
  page& family(std::string_view name, std::string_view type, std::string_view help, std::string_view unit = {}) {
    family_ = name;
    line({"# TYPE ", name, " ", type});
    if (!unit.empty()) line({"# UNIT ", name, " ", unit});
    line({"# HELP ", name, " ", help});
    return *this;
  }
  page& counter(std::string_view name, std::string_view help) { return family(name, "counter", help); }
  page& gauge(std::string_view name, std::string_view help) { return family(name, "gauge", help); }
  page& histogram_in_seconds(std::string_view name, std::string_view help) {
    return family(name, "histogram", help, "seconds");
  }

  page& total(std::uint64_t value, std::initializer_list<label> labels = {}) {
    return sample("_total", labels, std::to_string(value));
  }
  page& value(std::uint64_t value, std::initializer_list<label> labels = {}) {
    return sample("", labels, std::to_string(value));
  }
  page& value(duration value, std::initializer_list<label> labels = {}) {
    return sample("", labels, in_seconds(value));
  }
  page& value(const histogram& of, const label& whose) {
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < of.counts.size(); ++i) {
      so_far += of.counts.at(i);
      const std::string bound = i < histogram::bounds.size() ? in_seconds(histogram::bounds.at(i)) : "+Inf";
      sample("_bucket", {whose, {"le", bound}}, std::to_string(so_far));
    }
    sample("_count", {whose}, std::to_string(so_far));
    return sample("_sum", {whose}, in_seconds(of.sum));
  }

  void write(std::ostream& to) {
    line({"# EOF"});
    to.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  }

 private:
  void line(std::initializer_list<std::string_view> parts) {
    for (const auto part : parts) text_.append(part);
    text_.push_back('\n');
  }

  void escaped(std::string_view text) {
    for (const char c : text) {
      if (c == '\\' || c == '"' || c == '\n') text_.push_back('\\');
      text_.push_back(c == '\n' ? 'n' : c);
    }
  }

  page& sample(std::string_view suffix, std::initializer_list<label> labels, std::string_view value) {
    text_.append(family_).append(suffix);
    char before = '{';
    for (const auto& [name, what] : labels) {
      text_.push_back(std::exchange(before, ','));
      text_.append(name).append("=\"");
      escaped(what);
      text_.push_back('"');
    }
    if (labels.size() > 0) text_.push_back('}');
    line({" ", value});
    return *this;
  }

  std::string text_;
  std::string_view family_;
};

constexpr std::pair<std::string_view, std::uint64_t strategy_statistics::*> outcomes[] = {
    {"acquired", &strategy_statistics::acquired},
    {"busy", &strategy_statistics::busy},
    {"cancelled", &strategy_statistics::cancelled},
    {"failed", &strategy_statistics::failed}};

void write_strategies(page& to, const client_statistics& of) {
  const auto of_each = [&](auto write) {
    for (const auto& each : of.strategies) write(each, label{"strategy", to_string(each.strategy)});
  };
  to.counter("rowlock_acquisitions", "Calls that asked for a lock, by how they ended.");
  of_each([&](const auto& each, const label& by) {
    for (const auto& [outcome, number] : outcomes) to.total(each.*number, {by, {"outcome", outcome}});
  });
  to.counter("rowlock_releases", "Locks that their holders released.");
  of_each([&](const auto& each, const label& by) { to.total(each.released, {by}); });
  to.counter("rowlock_strategy_losses", "Locks that were lost while they were held, by strategy.");
  of_each([&](const auto& each, const label& by) { to.total(each.lost, {by}); });
  to.histogram_in_seconds("rowlock_wait_seconds", "From the call to the grant, for locks that were acquired.");
  of_each([&](const auto& each, const label& by) { to.value(each.waits, by); });
  to.histogram_in_seconds("rowlock_hold_seconds", "How long locks were held that were released or lost.");
  of_each([&](const auto& each, const label& by) { to.value(each.holds, by); });
}

void write_failures(page& to, const client_statistics& of) {
  to.counter("rowlock_losses", "Locks that were lost while they were held, by reason.");
  for (const auto& each : of.losses) to.total(each.lost, {{"reason", to_string(each.reason)}});
  to.counter("rowlock_errors", "Calls to the database that failed, by the code of the error.");
  for (const auto& each : of.errors) to.total(each.failures, {{"code", to_string(each.code)}});
  to.histogram_in_seconds("rowlock_statement_seconds", "How long calls to the database took, failed ones included.");
  for (const auto& each : of.statements) to.value(each.took, {"operation", each.operation});
}

void write_state(page& to, const client_statistics& of) {
  to.gauge("rowlock_held_locks", "Locks that are held.").value(of.held);
  to.gauge("rowlock_waiting_calls", "Calls that are acquiring a lock.").value(of.waiting);
  to.gauge("rowlock_connections", "Open connections for statements.")
      .value(of.connections_in_use, {{"state", "in_use"}})
      .value(of.connections - of.connections_in_use, {{"state", "idle"}});
  to.gauge("rowlock_held_transactions", "Connections that hold locks by for_update.").value(of.held_transactions);
  to.family("rowlock_quarantine_seconds", "gauge", "Until the end of the quarantine that is on.", "seconds")
      .value(of.quarantine);
}

void write_contents(page& to, const database_statistics& of) {
  to.gauge("rowlock_database_names", "Rows of the lock table, held or not.").value(of.names);
  to.gauge("rowlock_database_held_locks", "Locks that are held, by all clients.")
      .value(of.held - of.held_by_transaction, {{"by", "lease"}})
      .value(of.held_by_transaction, {{"by", "transaction"}});
  to.gauge("rowlock_database_waiters", "Waiters that are alive.").value(of.waiters);
  to.family("rowlock_database_longest_hold_seconds", "gauge", "For how long the oldest holder has held its lock.",
            "seconds")
      .value(of.longest_hold.value_or(duration::zero()));
  to.family("rowlock_database_longest_wait_seconds", "gauge", "For how long the oldest waiter has waited.", "seconds")
      .value(of.longest_wait.value_or(duration::zero()));
}

using job_runs = std::span<const job_run>;  // of one job, the newest first

std::vector<job_runs> by_job(const std::vector<job_run>& all) {
  std::vector<job_runs> out;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const job_run& each) { return !(each.job == begin->job); });
    out.emplace_back(begin, end);
    begin = end;
  }
  return out;
}

const job_run* newest(job_runs of, bool (*is_it)(const job_run&)) {
  const auto found = std::find_if(of.begin(), of.end(), is_it);
  return found == of.end() ? nullptr : &*found;
}

bool has_ended(const job_run& run) { return run.finished_at.has_value(); }
bool has_succeeded(const job_run& run) { return run.result == job_result::succeeded; }
bool is_running(const job_run& run) { return run.result == job_result::running; }

// A job that has never succeeded has the epoch, so that the alert about late jobs covers it. But not in its first run.
void write_last_success(page& to, job_runs of, const label& job) {
  const auto* const success = newest(of, has_succeeded);
  if (success != nullptr) to.value(success->finished_at->time_since_epoch(), {job});
  if (success == nullptr && newest(of, has_ended) != nullptr) to.value(duration::zero(), {job});
}

void write_last_run(page& to, job_runs of, const label& job) {
  if (const auto* const ended = newest(of, has_ended)) to.value(*ended->finished_at - ended->started_at, {job});
}

void write_results(page& to, job_runs of, const label& job) {
  for (const auto each :
       {job_result::succeeded, job_result::failed, job_result::killed, job_result::timed_out, job_result::lost}) {
    const auto number = std::count_if(of.begin(), of.end(), [&](const job_run& run) { return run.result == each; });
    to.value(static_cast<std::uint64_t>(number), {job, {"status", to_string(each)}});
  }
}

void write_jobs(page& to, const std::vector<job_run>& runs) {
  const auto jobs = by_job(runs);
  if (jobs.empty()) return;
  const auto of_each = [&](auto write) {
    for (const auto each : jobs) write(each, label{"job_name", each.front().job.view()});
  };
  to.family("rowlock_job_last_success_timestamp_seconds", "gauge", "When the job last succeeded; 0: never.", "seconds");
  of_each([&](job_runs of, const label& job) { write_last_success(to, of, job); });
  to.family("rowlock_job_period_seconds", "gauge", "How long the job's last period is.", "seconds");
  of_each([&](job_runs of, const label& job) { to.value(of.front().period_end - of.front().period_begin, {job}); });
  to.family("rowlock_job_last_run_seconds", "gauge", "How long the last run took that has ended.", "seconds");
  of_each([&](job_runs of, const label& job) { write_last_run(to, of, job); });
  to.gauge("rowlock_job_running", "1: the job is running.");
  of_each([&](job_runs of, const label& job) { to.value(newest(of, is_running) != nullptr ? 1U : 0U, {job}); });
  to.gauge("rowlock_job_runs", "The job's last runs, by what became of them.");
  of_each([&](job_runs of, const label& job) { write_results(to, of, job); });
}

}  // namespace

void write_openmetrics(std::ostream& to, const client_statistics& of) {
  page out;
  write_strategies(out, of);
  write_failures(out, of);
  for (const auto& each : engine::totals) out.counter(each.metric, each.help).total(of.*each.shown);
  write_state(out, of);
  out.write(to);
}

void write_openmetrics(std::ostream& to, const std::optional<database_statistics>& of,
                       const std::vector<job_run>& runs) {
  page out;
  out.gauge("rowlock_database_up", "1: the database has answered.").value(of ? 1 : 0);
  if (of) write_contents(out, *of);
  if (of) write_jobs(out, runs);
  out.write(to);
}

}  // namespace rowlock::inline v1
