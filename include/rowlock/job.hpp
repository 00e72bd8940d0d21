#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

class client;

/// When a job is due, and how a run of it is carried out.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct job_options {
  /// The length of a period, in which the job succeeds once: 1 s to 366 days.
  ///
  /// Periods are counted by the database's clock, from 1970-01-01 00:00 UTC on. If the length is a number of whole days
  /// and `at` or `time_zone` is set, they are local days: around a change of summer time a day has 23 or 25 hours.
  duration every = std::chrono::hours{24};
  /// The local time at which a period begins, from 0:00 to 23:59; absent: 0:00. Only where `every` is a number of whole
  /// days.
  std::optional<std::chrono::minutes> at{};
  /// The time zone of the local days, as "Europe/Berlin"; empty: UTC.
  std::string time_zone{};
  /// How long before a period a start counts as one of that period: 0 (off) to half of `every`; absent: a tenth of
  /// `every`, at most 5 min.
  ///
  /// Timers whose clock is ahead of the database's fire in the period before. If that has its success, or no more runs
  /// may be begun in it, such a start waits for the next period. If the last run began just as short a time before the
  /// start, both are for the same period, and the start does not wait: otherwise each host that fires a little later
  /// than the first would run the job once more.
  std::optional<duration> early_by{};
  /// How many more runs may be begun in a period after one that did not succeed: 0 to 1,000,000.
  int retries = 0;
  /// The shortest time from the end of a run that did not succeed to the next run: 0 to 366 days.
  duration retry_wait{};
  /// The longest time that a run may take: 1 ms to 366 days, and not longer than `every`; absent: no limit.
  std::optional<duration> timeout{};
  /// How long a call waits for the lock while another client runs the job, or for the next run after another client's
  /// has failed. It does not limit the wait for the next period: see `early_by`.
  duration wait = duration::max();
  /// How the lock is acquired and kept.
  lock_options lock{};
};

/// The result of a run.
enum class job_result : std::uint8_t {
  running,    ///< It has not ended, and its lock is still held.
  succeeded,  ///< It has ended well. Each period has at most one such run.
  failed,     ///< The work threw an exception, or the command ended with another exit status than 0.
  killed,     ///< A signal ended the command.
  timed_out,  ///< It took longer than job_options::timeout.
  lost        ///< It lost its lock, or its process died: its end is not known.
};

/// Returns the name of the enumerator, as it is recorded.
ROWLOCK_EXPORT std::string_view to_string(job_result r) noexcept;

/// A run of a job, as the database records it.
///
/// Times are by the database's clock.
struct job_run {
  lock_name job;                                   ///< The name of the job, and of its lock.
  std::chrono::sys_time<duration> period_begin{};  ///< The first time of its period.
  std::chrono::sys_time<duration> period_end{};    ///< The first time after its period.
  int attempt = 0;                                 ///< Its number in the period, from 1.
  std::string owner{};                             ///< The client that runs it, as application:host:pid:id.
  std::string host{};                              ///< The host of that client.
  fencing_token token{};                           ///< The fencing token of the lock it runs under.
  std::chrono::sys_time<duration> started_at{};    ///< When it began.
  std::optional<std::chrono::sys_time<duration>> finished_at{};  ///< When its end was recorded.
  job_result result = job_result::running;                       ///< Its result.
  std::optional<int> exit_status{};                              ///< Of a command that has exited.
  std::optional<int> signal{};                                   ///< Which has ended a command.
  std::string output{};  ///< The end of the command's output, if it was kept, or the message of the exception.
};

/// How a run has ended, for job::finish().
struct job_ending {
  job_result result = job_result::succeeded;  ///< Any but `running` and `lost`.
  std::optional<int> exit_status{};           ///< Of a command that has exited.
  std::optional<int> signal{};                ///< Which has ended a command.
  /// The output: its last 1,024 bytes are kept. Bytes that are not UTF-8, and NUL, become "?".
  std::string output{};
};

/// The kinds of answers of a call about a job.
enum class job_status : std::uint8_t {
  begun,              ///< job::begin(): the run is recorded, and may begin.
  succeeded,          ///< The run has succeeded, and that is recorded.
  already_succeeded,  ///< A run has succeeded in this period before.
  failed,             ///< The run has failed, or its command was killed.
  timed_out,          ///< The run took too long.
  lost,               ///< The lock was lost, so that no success is recorded. Another client may run the job.
  attempts_used_up,   ///< No run has succeeded in this period, and no more may be begun in it.
  too_early,          ///< The last run failed less than job_options::retry_wait ago: see job_outcome::again_in.
  due_soon,           ///< As already_succeeded or attempts_used_up, and the next period begins soon, for which this
                      ///< start is: see job_options::early_by. Acquire the lock again after job_outcome::again_in.
  not_acquired        ///< The lock was not acquired within job_options::wait, or the call was stopped.
};

/// Returns the name of the enumerator.
ROWLOCK_EXPORT std::string_view to_string(job_status s) noexcept;

/// The answer of a call about a job.
struct job_outcome {
  job_status what = job_status::not_acquired;  ///< The kind of answer.
  /// The run that this is about: the run itself, the one that has succeeded, or the last one of the period.
  std::optional<job_run> run{};
  /// The time until the next run may begin: too_early; for due_soon, already_succeeded and attempts_used_up until the
  /// next period begins.
  duration again_in{};
};

/// Which runs are counted together where the last ones are asked for.
enum class runs_of : std::uint8_t {
  any_result,  ///< All runs of a job.
  /// The runs of a job that have the same result: the last success is found, however many failures came after it. Runs
  /// whose end is not recorded are one more kind.
  each_result
};

/// A job that is to succeed once in each period, whichever of many clients runs it.
///
/// A run is recorded in the database, in the transaction that confirms the job's lock. So a process that has lost the
/// lock cannot record a success, and each period has one recorded success at most. A run that failed, whose process
/// died or whose lock was lost is followed by another, by any client, up to job_options::retries in a period. The
/// period is that of the database's clock when the lock is acquired, so the clocks of the hosts do not matter. If the
/// database's clock is set back into an earlier period, the success of that period counts.
///
/// \warning A run that lost its lock may have done its work, and another run repeats it. Work that must not be repeated
/// needs confirm() in its own transaction, or the fencing token.
///
/// Periods by time zone: the rules are those of the system's time zone database.
///
/// (Similar: ShedLock with lockAtLeastFor, db-scheduler's recurring tasks, Quartz's clustered triggers.)
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: a job may outlive its client; its calls then throw errc::client_closed. It must outlive its calls. In a
/// child process after fork() its calls throw errc::used_after_fork.
class ROWLOCK_EXPORT job {
 public:
  /// Makes a job; sends nothing to the database.
  ///
  /// Throws:
  /// - errc::invalid_option: an option is out of its bounds, `at` is set and `every` is not a number of whole days, the
  ///   time zone is unknown, or lock_options::as is set, because each run is a holder of its own
  /// - errc::unsupported: the strategy is for_update, whose lock a recorded run cannot be confirmed by
  /// - errc::client_closed: the client was moved from
  job(client& of, lock_name name, job_options options = {});
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  ~job();

  /// The work of a run. It has succeeded if it returns before the timeout, and failed if it throws.
  ///
  /// The stop_token is stopped when the lock is lost, after job_options::timeout, and when the caller requests a stop.
  /// Work that then gives up must throw, for example error{errc::cancelled}. The lock is passed for confirm().
  using work = std::function<void(std::stop_token, const held_lock&)>;

  /// Runs the job in the calling thread, unless it has succeeded in this period, and returns what happened.
  ///
  /// The call waits for the lock, begins a run, calls `todo`, and records the end. After a run that did not succeed it
  /// releases the lock, waits for job_options::retry_wait, and begins again, until a run succeeds, no more may be
  /// begun, or `stop` is requested. A call shortly before the next period may wait for that, without the lock: see
  /// job_options::early_by.
  ///
  /// If an exception ended the last run of this call, its message is recorded as the output, and the call throws it,
  /// unless another client's run of the period has succeeded since. After a timeout or a loss, an `error` with
  /// errc::cancelled or errc::lock_lost counts as a return.
  ///
  /// Throws also what client::acquire() throws, except errc::cancelled, and errors that the database reports. If an
  /// error leaves open whether the begin or the end was recorded, outcome_is_unknown() is true.
  job_outcome run(const work& todo, std::stop_token stop = {});

  /// Records a run that begins under this lock, if one may begin.
  ///
  /// The answer is begun, already_succeeded, attempts_used_up, due_soon, too_early or lost. For callers that acquire
  /// the lock and do the work by themselves: finish() records the end, then the lock is released. One lock begins one
  /// run: a second call in the same period answers with that run. `asked_ago` is how long ago the job was started,
  /// before the wait for the lock: job_options::early_by is about that time.
  ///
  /// Throws errc::invalid_option if the lock has another name, errc::unsupported if it is held by for_update or
  /// shared, errc::not_held, and errors that the database reports.
  job_outcome begin(const held_lock& by, duration asked_ago = {});
  /// Records the end of a run that begin() has answered.
  ///
  /// The answer is succeeded, failed or timed_out, as `how` says, or lost. A lost reply is resolved: the call looks,
  /// and repeats the statement while the lock is held. Throws as begin() does.
  job_outcome finish(const held_lock& by, const job_run& begun, const job_ending& how);

  /// Returns the last `most` runs of this job, the newest first.
  ///
  /// With runs_of::each_result it returns as many of each result, all together the newest first.
  std::vector<job_run> history(std::size_t most = 100, runs_of which = runs_of::any_result);

  /// Returns the name of the job.
  const lock_name& name() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Returns the last `most` runs of each job in the database, or of each result of each job, by job, the newest first.
///
/// Throws errors that the database reports, and errc::client_closed.
[[nodiscard]] ROWLOCK_EXPORT std::vector<job_run> list_job_runs(client& of, std::size_t most,
                                                                runs_of which = runs_of::any_result);

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
