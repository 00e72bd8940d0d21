#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "command/database.hpp"
#include "command/guarded_run.hpp"
#include "command/guardian.hpp"
#include "command/job_runs.hpp"
#include "command/kept_output.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"
#include "command/words.hpp"

// rowlock run and rowlock lead.
namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Waits while the lock is held. false: the lock was lost. A signal to end ends this process.
bool rest(std::chrono::seconds pause, held_set& held, const options& given, const signals& taken) {
  const bell lost;
  const std::stop_callback on_loss{held.lost(), [&] { lost.ring(); }};
  const auto number = taken.wait_for_end(lost, pause);
  if (!number && !held.lost().stop_requested()) return true;
  if (!number) say(loss_in_words(held, given));
  release_held(held, given, !number);
  if (number) signals::die_of(*number);
  return false;
}

// nullopt: lead has lost the lock and must run the command again, which may have left its work half done.
std::optional<int> run_under(held_set& held, const options& given, const signals& taken, guardian& guard) {
  constexpr auto longest_pause = 30s;
  for (auto next_pause = 1s;;) {
    const auto begin = steady_clock::now();
    guarded_run command{given, taken, guard, held};
    const int status = status_of_end(command.wait());
    const bool is_the_end = given.what != subcommand::lead || command.was_asked_to_end();
    if (is_the_end || !given.run.restarts || held.lost().stop_requested()) {
      if (release_held(held, given, command.has_reported_loss())) return status;
      return is_the_end ? std::optional{given.run.lost_exit} : std::nullopt;
    }
    if (steady_clock::now() - begin >= longest_pause) next_pause = 1s;
    const auto pause = std::exchange(next_pause, std::min(2 * next_pause, longest_pause));
    say("the command has ended with status " + std::to_string(status) + "; it is started again in " +
        bound_in_words(pause));
    if (!rest(pause, held, given, taken)) return std::nullopt;
  }
}

// --- run --every -----------------------------------------------------------------------------------------------------

const held_lock& lock_of(const held_set& held, const std::string& name) {
  return *std::ranges::find_if(held.locks(), [&](const held_lock& each) { return each.name() == lock_name{name}; });
}

job_ending ending_of(int raw, bool has_timed_out, std::string output) {
  job_ending out{.output = std::move(output)};
  if (WIFSIGNALED(raw)) out.signal = WTERMSIG(raw);
  if (WIFEXITED(raw)) out.exit_status = WEXITSTATUS(raw);
  if (has_timed_out)
    out.result = job_result::timed_out;
  else if (raw != 0)
    out.result = out.signal ? job_result::killed : job_result::failed;
  return out;
}

/// Runs the command unless it has succeeded in this period, and records what becomes of it. Each run is under a lock of
/// its own.
class recorded_runs {
 public:
  recorded_runs(const options& given, const signals& taken)
      : given_{given}, taken_{taken}, guard_{given, taken, output_ ? output_->ends() : job::outputs{}} {}

  /// The exit status; nullopt: acquire the lock again.
  std::optional<int> next(client& locks, held_set& held) {
    rowlock::job job{locks, given_.name, job_of(given_.run)};
    const auto begun = job.begin(lock_of(held, given_.name), base::now() - asked_);
    if (begun.what == job_status::begun) return run(job, held, *begun.run);
    const bool is_held = release_held(held, given_, false);
    if (begun.what == job_status::lost || !is_held) return given_.run.lost_exit;
    if (begun.what == job_status::too_early) return wait_for_next(begun);
    if (begun.what == job_status::due_soon) return wait_for_period(begun.again_in);
    tell(why_not_begun(begun));
    if (begun.what == job_status::already_succeeded) return exit_status::done;
    return status_so_far_.value_or(given_.run.busy_exit);
  }

 private:
  std::optional<int> run(rowlock::job& job, held_set& held, job_run begun) try {
    if (output_) output_->begin();
    guarded_run command{given_, taken_, guard_, held};
    const int raw = command.wait();
    const auto ending = ending_of(raw, command.has_timed_out(), output_ ? output_->end() : std::string{});
    const auto ended = job.finish(lock_of(held, given_.name), begun, ending);
    const bool is_lost = ended.what == job_status::lost;
    if (is_lost && !command.has_reported_loss()) say(loss_in_words(held, given_));
    release_held(held, given_, is_lost || command.has_reported_loss());
    if (ended.what == job_status::succeeded) return exit_status::done;
    status_so_far_ = is_lost                   ? given_.run.lost_exit
                     : command.has_timed_out() ? exit_status::timed_out
                                               : status_of_end(raw);
    if (command.was_asked_to_end() || begun.attempt > given_.run.job.retries) return status_so_far_;
    begun.result = is_lost ? job_result::lost : ending.result;
    begun.exit_status = ending.exit_status;
    begun.signal = ending.signal;
    tell(fmt::format("run {} of {} has ended: {}; {}", begun.attempt, 1 + given_.run.job.retries,
                     result_in_words(begun), next_in_words(given_.run.job.retry_wait)));
    return wait_for(given_.run.job.retry_wait);
  } catch (const not_started& e) {
    job.finish(lock_of(held, given_.name), begun,
               {.result = job_result::failed, .exit_status = e.exit_status(), .output = e.what()});
    throw;
  }

  std::optional<int> wait_for_next(const job_outcome& begun) {
    tell(fmt::format("the last run of {} has ended {}: {}; {}", base::quoted(given_.name), end_in_words(*begun.run),
                     result_in_words(*begun.run), next_in_words(begun.again_in)));
    if (given_.run.wait && begun.again_in > *given_.run.wait) return status_so_far_.value_or(given_.run.busy_exit);
    return wait_for(begun.again_in);
  }

  // --wait does not limit it: it is about the timer, not about the lock.
  std::optional<int> wait_for_period(duration left) {
    if (!std::exchange(is_early_, true))
      tell(fmt::format("waiting for the next period of {}, which begins in {}", base::quoted(given_.name),
                       format_duration(left)));
    return wait_for(left);
  }

  /// A signal to end ends this process.
  std::optional<int> wait_for(duration pause) {
    const auto number = taken_.wait_for_end(bell{}, std::chrono::ceil<std::chrono::milliseconds>(pause));
    if (number) signals::die_of(*number);
    return std::nullopt;
  }

  std::string why_not_begun(const job_outcome& answer) const {
    const auto& last = *answer.run;
    const auto name = base::quoted(given_.name);
    if (answer.what == job_status::already_succeeded)
      return fmt::format("{} has succeeded in this period, {}", name, end_in_words(last));
    return fmt::format(
        "{} has not succeeded in this period, and the last of its {} has ended {}: {}; the next period begins at {}",
        name, last.attempt == 1 ? "runs" : fmt::format("{} runs", last.attempt), end_in_words(last),
        result_in_words(last), format_time(last.period_end));
  }

  static std::string next_in_words(duration pause) {
    return pause > duration::zero() ? "the next may begin in " + format_duration(pause) : "the next may begin";
  }

  void tell(const std::string& sentence) const {
    if (!given_.run.is_quiet) say(sentence);
  }

  const options& given_;
  const signals& taken_;
  std::optional<kept_output> output_{given_.run.keeps_output ? std::optional<kept_output>{std::in_place}
                                                             : std::nullopt};
  guardian guard_;
  std::optional<int> status_so_far_{};
  const base::instant asked_ = base::now();
  bool is_early_ = false;  // and has said so
};

}  // namespace

int run(const options& given) {
  const signals taken{SIGTTOU};  // no message in the background of a terminal stops this process
  if (given.run.every) {
    recorded_runs runs{given, taken};
    return with_lock(given, taken, [&](client& locks, held_set& held) { return runs.next(locks, held); });
  }
  guardian guard{given, taken};
  return with_lock(given, taken, [&](client&, held_set& held) { return run_under(held, given, taken, guard); });
}

}  // namespace rowlock::command
