#include "history/job_history.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace rowlock::test {

namespace {

constexpr std::string_view end_of_line = " .";

using run_key = std::pair<std::string, std::int64_t>;  // the job, and the token or the period
using runs_of_one = std::vector<const run_row*>;

std::string text_of(const run_row& run) {
  return run.job + ", period " + std::to_string(run.period_begin) + ", run " + std::to_string(run.attempt) +
         " with token " + std::to_string(run.token) + " (" + run.result.value_or("open") + ")";
}

bool has_succeeded(const run_row* run) { return run->result == "succeeded"; }

/// An end that its own runner has recorded.
bool has_own_end(const run_row& run) { return run.result && run.result != "lost"; }

class judge_of_jobs {
 public:
  judge_of_jobs(const job_history& all, const job_rules& rules) : all_{all}, rules_{rules} {
    for (const auto& run : all_.runs) {
      by_period_[{run.job, run.period_begin}].push_back(&run);
      by_job_[run.job].push_back(&run);
      if (!by_token_.emplace(run_key{run.job, run.token}, &run).second) complain("a token has two runs", run);
    }
    for (auto& [key, runs] : by_period_) std::ranges::sort(runs, {}, &run_row::attempt);
    for (auto& [job, runs] : by_job_) std::ranges::sort(runs, {}, &run_row::token);
  }

  verdict_of_jobs judge() {
    for (const auto& [key, runs] : by_period_) period_is_well(runs);
    for (const auto& [job, runs] : by_job_) ends_were_recorded_under_the_lock(runs);
    works_are_recorded();
    for (const auto& call : all_.calls) call_is_well(call);
    out_.periods = by_period_.size();
    out_.runs = all_.runs.size();
    out_.served = served_.size();
    return std::move(out_);
  }

 private:
  void complain(const std::string& sentence, const run_row& run) {
    out_.violations.push_back(sentence + ": " + text_of(run));
  }
  void complain(const std::string& sentence, const job_call& call) {
    out_.violations.push_back(sentence + ": " + call.job + ", " + call.what + " with token " +
                              std::to_string(call.token) + ", from " + std::to_string(call.begin) + " to " +
                              std::to_string(call.end));
  }
  bool is_used_up(const runs_of_one& runs) const {
    return std::ssize(runs) > rules_.retries && std::ranges::none_of(runs, has_succeeded);
  }

  void period_is_well(const runs_of_one& runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i]->attempt != static_cast<std::int64_t>(i) + 1) complain("runs are not numbered from 1 on", *runs[i]);
      if (i > 0 && runs[i]->token <= runs[i - 1]->token) complain("a later run has a smaller token", *runs[i]);
      if (i > 0 && std::any_of(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(i), has_succeeded))
        complain("a run was begun after the success", *runs[i]);
      if (runs[i]->result == "lost") ++out_.lost;
    }
    if (std::ssize(runs) > rules_.retries + 1) complain("too many runs were begun", *runs.back());
    const auto successes = std::ranges::count_if(runs, has_succeeded);
    if (successes > 1) complain("a period has two successes", *runs.back());
    if (successes > 0) ++out_.successes;
    if (is_used_up(runs)) ++out_.used_up;
  }

  void ends_were_recorded_under_the_lock(const runs_of_one& runs) {
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const auto& before = *runs[i - 1];
      if (has_own_end(before) && before.finished_at > runs[i]->started_at)
        complain("an end was recorded after the lock was lost", before);
      if (before.period_begin > runs[i]->period_begin) complain("a later run is of an earlier period", *runs[i]);
    }
  }

  void works_are_recorded() {
    std::map<run_key, bool> works;
    for (const auto& work : all_.works) {
      const auto [at, is_first] = works.emplace(run_key{work.job, work.token}, work.is_done);
      if (!is_first)
        out_.violations.push_back("work was done twice under one token: " + work.job + ' ' +
                                  std::to_string(work.token));
      const auto run = by_token_.find(at->first);
      if (run == by_token_.end())
        out_.violations.push_back("work was done without a run: " + work.job + ' ' + std::to_string(work.token));
      else if (work.is_done && !has_succeeded(run->second))
        ++out_.unrecorded;
    }
    for (const auto& [key, run] : by_token_) {
      const auto work = works.find(key);
      if (has_own_end(*run) && work == works.end()) complain("an end without any work", *run);
      if (has_succeeded(run) && work != works.end() && !work->second) complain("a success without the work", *run);
    }
  }

  void call_is_well(const job_call& call) {
    ++out_.answers[call.what];
    const auto found = by_token_.find({call.job, call.token});
    const run_row* const run = found == by_token_.end() ? nullptr : found->second;
    if (call.token != 0 && run == nullptr) return complain("an answer is about no run", call);
    const bool is_recorded = run != nullptr && has_succeeded(run);
    if ((call.what == "succeeded" || call.what == "already_succeeded") && !is_recorded)
      complain("a success that is not recorded", call);
    if ((call.what == "lost" || call.what == "threw") && is_recorded) complain("a success that was denied", call);
    if (call.what == "attempts_used_up" &&
        (run == nullptr || !is_used_up(by_period_.at({run->job, run->period_begin}))))
      complain("more runs may begin", call);
    if (call.is_patient && call.what != "lost" && call.what != "error") is_served(call);
  }

  void is_served(const job_call& call) {
    const auto period = call.begin / rules_.every * rules_.every;
    if (call.end >= period + rules_.every) return;
    served_.insert({{call.job, period}, true});
    const auto found = by_period_.find({call.job, period});
    if (found == by_period_.end() || (std::ranges::none_of(found->second, has_succeeded) && !is_used_up(found->second)))
      complain("a period was left without a success", call);
  }

  const job_history& all_;
  const job_rules rules_;
  verdict_of_jobs out_{};
  std::map<run_key, runs_of_one> by_period_{};
  std::map<std::string, runs_of_one> by_job_{};
  std::map<run_key, const run_row*> by_token_{};
  std::map<run_key, bool> served_{};
};

}  // namespace

verdict_of_jobs judge_jobs(const job_history& all, const job_rules& rules) { return judge_of_jobs{all, rules}.judge(); }

void job_record::answered(const job_call& call) {
  write("A", call.job, call.token,
        ' ' + call.what + ' ' + std::to_string(static_cast<int>(call.is_patient)) + ' ' + std::to_string(call.begin) +
            ' ' + std::to_string(call.end));
}

void job_record::write(std::string_view kind, std::string_view job, std::int64_t token, const std::string& more) {
  const std::lock_guard alone{mutex_};
  out_ << kind << ' ' << job << ' ' << token << more << end_of_line << std::endl;
}

job_history read_job_records(const std::filesystem::path& folder) {
  job_history out;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    std::ifstream in{file.path()};
    std::map<run_key, std::size_t> begun;
    for (std::string line; std::getline(in, line);) {
      if (!line.ends_with(end_of_line)) continue;
      std::istringstream words{line};
      char kind{};
      job_call call;
      words >> kind >> call.job >> call.token;
      if (kind == 'A') {
        words >> call.what >> call.is_patient >> call.begin >> call.end;
        out.calls.push_back(call);
      } else if (kind == 'W') {
        begun[{call.job, call.token}] = out.works.size();
        out.works.push_back({.job = call.job, .token = call.token});
      } else {
        out.works.at(begun.at({call.job, call.token})).is_done = true;
      }
    }
  }
  return out;
}

}  // namespace rowlock::test
