#include "command/job_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "command/words.hpp"

namespace rowlock::command {

namespace {

std::optional<duration> time_taken(const job_run& run) {
  return run.finished_at ? std::optional{*run.finished_at - run.started_at} : std::nullopt;
}

json time_or_null(const std::optional<std::chrono::sys_time<duration>>& at) {
  return at ? json(format_time(*at)) : json{};
}

/// nullptr: there is none.
template <class Is>
const job_run* first(const std::vector<job_run>& runs, Is is_it) {
  const auto found = std::find_if(runs.begin(), runs.end(), is_it);
  return found == runs.end() ? nullptr : &*found;
}

const job_run* last_success(const std::vector<job_run>& runs) {
  return first(runs, [](const job_run& each) { return each.result == job_result::succeeded; });
}

const job_run* last_failure(const std::vector<job_run>& runs) { return first(runs, has_failed); }

/// Whether the period after the last run has begun, by this host's clock: the database's is not at hand.
bool is_due(const std::vector<job_run>& runs) { return runs.front().period_end <= std::chrono::system_clock::now(); }

}  // namespace

std::vector<job_run> last_runs(client& locks, const std::optional<std::string>& name, std::size_t most, runs_of which) {
  return name ? rowlock::job{locks, *name}.history(most, which) : list_job_runs(locks, most, which);
}

bool has_failed(const job_run& run) { return run.result != job_result::succeeded && run.result != job_result::running; }

std::string result_in_words(const job_run& run) {
  if (run.signal && run.result == job_result::killed) return fmt::format("signal {}", *run.signal);
  if (run.exit_status && run.result == job_result::failed) return fmt::format("exit status {}", *run.exit_status);
  if (run.result == job_result::timed_out) return "timed out";
  return std::string{to_string(run.result)};
}

std::string end_in_words(const job_run& run) {
  return fmt::format("at {} on {}", format_time(run.finished_at.value_or(run.started_at)), run.host);
}

void write(std::ostream& out, const std::vector<job_run>& runs) {
  std::vector<table_line> lines{{"JOB", "PERIOD", "ATTEMPT", "HOST", "BEGAN", "TOOK", "RESULT"}};
  for (const auto& each : runs)
    lines.push_back({std::string{each.job.view()}, format_time(each.period_begin), std::to_string(each.attempt),
                     or_dash(each.host), format_time(each.started_at), duration_or_dash(time_taken(each)),
                     result_in_words(each)});
  write_table(out, lines);
}

void write_summary(std::ostream& out, const std::vector<job_run>& runs) {
  const auto field = [&](const char* title, const std::string& value) { write_field(out, 12, title, value); };
  const auto* const success = last_success(runs);
  const auto* const failure = last_failure(runs);
  field("last success", success == nullptr ? "-" : end_in_words(*success));
  field("last failure", failure == nullptr ? "-" : end_in_words(*failure) + ": " + result_in_words(*failure));
  field(is_due(runs) ? "due since" : "next period", format_time(runs.front().period_end));
}

json json_of_summary(const std::vector<job_run>& runs) {
  if (runs.empty()) return {};
  const auto of = [](const job_run* run) { return run == nullptr ? json{} : json_of(*run); };
  const json next = format_time(runs.front().period_end);
  return {{"last_success", of(last_success(runs))},
          {"last_failure", of(last_failure(runs))},
          {"next_period", is_due(runs) ? json{} : next},
          {"due_since", is_due(runs) ? next : json{}}};
}

json json_of(const job_run& run) {
  return {{"job", run.job.view()},
          {"period_begin", format_time(run.period_begin)},
          {"period_end", format_time(run.period_end)},
          {"attempt", run.attempt},
          {"owner", run.owner},
          {"host", run.host},
          {"token", run.token.value()},
          {"started_at", format_time(run.started_at)},
          {"finished_at", time_or_null(run.finished_at)},
          {"took_us", microseconds(time_taken(run))},
          {"result", to_string(run.result)},
          {"exit_status", or_null(run.exit_status)},
          {"signal", or_null(run.signal)},
          {"output", or_null(run.output)}};
}

json json_of(const std::vector<job_run>& runs) {
  return array_of(runs, [](const job_run& each) { return json_of(each); });
}

}  // namespace rowlock::command
