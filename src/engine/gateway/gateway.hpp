#pragma once

#include <rowlock/error.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "core/url.hpp"
#include "core/wait.hpp"
#include "driver/backend.hpp"
#include "engine/events/telemetry.hpp"
#include "engine/flow/flow.hpp"
#include "engine/flow/task.hpp"
#include "engine/gateway/combiner.hpp"
#include "engine/gateway/guard.hpp"
#include "engine/gateway/pool.hpp"
#include "engine/identity.hpp"
#include "store/access.hpp"
#include "store/schema.hpp"

namespace rowlock::inline v1::engine {

/// Counts the calls that are under way, so that closing can wait for the last of them.
class in_flight_calls {
 public:
  class call {
   public:
    explicit call(in_flight_calls& in) noexcept : in_{in} { ++in_.count_; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { in_.leave(); }

   private:
    in_flight_calls& in_;
  };

  /// Returns when none is under way, at the latest at `deadline`.
  void wait_for_the_last(base::instant deadline);

 private:
  struct nothing {};
  void leave() noexcept;

  std::atomic<int> count_{0};
  std::atomic<bool> is_awaited_{false};
  std::condition_variable_any none_;
  base::guarded<nothing> state_;
};

/// The names that calls share, or end shares of, now.
class shared_names {
 public:
  class call {
   public:
    call(shared_names& in, std::string_view name) : in_{in} {
      const auto all = in.all_.lock();
      others_before_ = all->contains(name) ? 0 : all->size();
      own_ = all->emplace(name);
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { in_.all_.lock()->erase(own_); }
    /// How many calls about other names there were when it began; 0 if one was about this name.
    std::size_t others_before() const noexcept { return others_before_; }

   private:
    shared_names& in_;
    std::size_t others_before_ = 0;
    std::multiset<std::string, std::less<>>::iterator own_;
  };

 private:
  base::guarded<std::multiset<std::string, std::less<>>> all_;
};

/// The only way to the database: connections, the check that its schema fits, sessions whose replies were lost.
///
///   open --begin_close()--> closing: no call begins; calls under way may end --close()--> closed
///   in a child of a fork: foreign: calls throw used_after_fork
class gateway {
 public:
  gateway(const driver::backend& kind, const core::url& address, const client_options& options, const identity& who,
          telemetry& to);
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;

  /// Opens the first connection.
  void connect();

  const client_options& options() const noexcept { return options_; }
  const driver::backend& kind() const noexcept { return kind_; }
  store::schema_files schema() const noexcept { return {.files = kind_.migrations, .prefix = options_.table_prefix}; }
  const sheets::sheet& sheet() const noexcept { return sheet_; }
  const sheets::capabilities& can() const noexcept { return sheet_.can(); }
  driver::database& database() noexcept { return *database_; }
  telemetry& events() noexcept { return events_; }
  bool is_foreign() const noexcept { return process_.is_foreign(); }

  bool is_usable() const noexcept { return !is_foreign() && !is_closed_; }
  /// Throws client_closed, used_after_fork.
  void check_usable() const;
  /// A call that closing waits for. Throws as check_usable().
  class call;
  class spare;
  /// A call that is permitted while the client closes.
  in_flight_calls::call enter_to_release() noexcept { return in_flight_calls::call{calls_}; }

  driver::limits call_limits(const std::stop_token& stop = {}) const;
  /// The same for a call that waits until `deadline`: what it still sends after that has the least time of a call, all
  /// together.
  driver::limits limits_of_wait(base::instant deadline, const std::stop_token& stop);
  /// Leaves time to find out the outcome of a call that was cut, and to end its session before it takes effect.
  static driver::limits leaving_a_tenth(driver::limits until);
  /// Sleeps until then; returns early if the client closes or `stop` fires.
  void pause_until(base::instant t, const std::stop_token& stop);
  class pause;

  /// Runs `use(store::access)` on a session; its schema fits this library.
  template <class Use>
  auto run(const driver::limits& until, Use use, purpose what_for = purpose::usual);
  /// The same with any schema.
  template <class Use>
  auto run_on_any_schema(const driver::limits& until, Use use, purpose what_for = purpose::usual);
  /// Sends the request together with those of other callers, if they would wait for each other: see combiner. It may
  /// run on any thread.
  template <class Request, class Answer>
  task<sent_answer<Answer>> run_combined(flow& by, combined_verb<Request, Answer>& verb, const Request& one,
                                         const combined_limits& until, combined_call_ptr& left) {
    return combiner_.run(by, verb, one, until, left);
  }
  /// The same for shares, by a verb that leaves out rows which others have locked, so requests of different names
  /// travel together. nullopt: nothing was sent, because too few other names are asked for, or another call is about
  /// this one.
  template <class Request, class Answer>
  task<std::optional<sent_answer<Answer>>> run_combined_skipping(flow& by, combined_verb<Request, Answer>& verb,
                                                                 const Request& one, const combined_limits& until,
                                                                 combined_call_ptr& left) {
    const shared_names::call counted{shared_now_, one.name};
    if (counted.others_before() < skipping_pays_from_) co_return std::nullopt;
    auto sent = skipping_combiner_.run(by, verb, one, until, left);
    co_return co_await sent;
  }
  /// The same for shares, by a verb that waits for the row: only requests of one name travel together.
  template <class Request, class Answer>
  task<sent_answer<Answer>> run_combined_by_name(flow& by, combined_verb<Request, Answer>& verb, const Request& one,
                                                 const combined_limits& until, combined_call_ptr& left) {
    const shared_names::call counted{shared_now_, one.name};
    auto sent = share_combiner_.run(by, verb, one, until, left);
    co_return co_await sent;
  }
  void require_fit_schema(const store::access& db);
  failover_guard& guard() noexcept { return guard_; }
  /// Looks at it, if that was not done lately: before what is granted by another session than the pool's.
  void look_at_guard(const driver::limits& until);
  /// Throws invalid_option if the guard is on, and permits no such lease.
  void require_short(duration lease, const char* what, const driver::limits& until);
  /// The same for what a lock asks for. Absent: no quarantine is on.
  std::optional<duration> quarantine_for(const lock_options& options) const;
  /// After a session outside of the pool has found no tables: another is asked. Throws its error, or a retryable one if
  /// the tables exist.
  [[noreturn]] void doubt_schema(const error& missing, const driver::limits& until);
  /// It is checked again at the next use.
  void forget_schema() noexcept { schema_fits_ = false; }

  /// The caller's own transaction.
  std::unique_ptr<driver::enlisted_transaction> join(driver::caller_transaction& tx, bool is_guarded) {
    return database_->join(tx, is_guarded);
  }
  /// For what grants nothing.
  std::unique_ptr<driver::enlisted_transaction> join(driver::caller_transaction& tx) { return join(tx, false); }
  /// A session for a transaction that is kept open.
  std::unique_ptr<pool::loan> lend_transaction(const driver::limits& until);
  /// A session that does not belong to the pool.
  std::unique_ptr<driver::session> open_session(const driver::limits& until);
  /// Asks the server to end sessions whose calls were cut or whose replies were lost. false: it could not be asked.
  bool end_lost_sessions(const driver::limits& until) noexcept;

  pool::usage connections() { return pool_.used(); }
  pool::usage held_transactions() { return transactions_.used(); }

  /// false: another thread closes it, or it is foreign.
  bool begin_close() noexcept;
  /// Returns when no call is under way, at `deadline` at the latest.
  void wait_for_calls(base::instant deadline) { calls_.wait_for_the_last(deadline); }
  /// Of combined requests; those that their threads have left behind have been given up by then.
  void end_batches() noexcept {
    combiner_.stop();
    share_combiner_.stop();
    skipping_combiner_.stop();
  }
  void close(const driver::limits& until) noexcept;

 private:
  using connecting = std::unique_ptr<driver::session> (driver::database::*)(const driver::limits&);
  in_flight_calls& calls_if_usable();
  driver::open_options for_database(const identity& who);
  pool::open_session opening(connecting how);
  std::unique_ptr<driver::session> open(connecting how, const driver::limits& until);
  combiner::line_options lines() const noexcept;
  combiner::on_session on_a_session();
  void retire(const driver::limits& until) noexcept;

  const base::fork_guard process_;
  const client_options& options_;
  telemetry& events_;
  const driver::backend& kind_;
  const sheets::sheet sheet_;
  const std::unique_ptr<driver::database> database_;
  failover_guard guard_;
  const bool has_spare_;
  pool pool_;
  pool transactions_;
  combiner combiner_;
  combiner share_combiner_;
  combiner skipping_combiner_;
  const std::size_t skipping_pays_from_;  // calls that share other names, or end shares of them, at the same time
  shared_names shared_now_;
  std::atomic<bool> schema_fits_{false};  // checked once, and again after the tables were found missing
  in_flight_calls calls_;
  std::condition_variable_any closing_;
  base::guarded<bool> is_closing_;
  std::atomic<bool> is_closed_{false};  // the same, without its mutex
};

/// The wait until a time. It ends early if the client closes or `stop` fires.
class gateway::pause final : public wait {
 public:
  pause(gateway& of, base::instant until, const std::stop_token& stop) : of_{of}, until_{until}, stop_{stop} {}
  void block() override { of_.pause_until(until_, stop_); }
  bool is_over() override { return base::now() >= until_ || stop_.stop_requested() || !of_.is_usable(); }
  base::instant until() override { return until_; }

 private:
  gateway& of_;
  const base::instant until_;
  const std::stop_token& stop_;
};

class gateway::call {
 public:
  explicit call(gateway& in) : call_{in.calls_if_usable()} { in.check_usable(); }

 private:
  const in_flight_calls::call call_;
};

/// Only a server's session can be led to another place.
class gateway::spare final : public store::spare_connection {
 public:
  spare(pool::loan& in_place_of, const driver::limits& until) : loan_{in_place_of}, until_{until} {}
  driver::session& take() override {
    loan_.replace(until_);
    return *loan_;
  }
  void agrees() noexcept override { loan_.keep_replaced(); }

 private:
  pool::loan& loan_;
  const driver::limits& until_;
};

// Missing tables are believed only if two connections report them.
template <class Use>
auto gateway::run_on_any_schema(const driver::limits& until, Use use, purpose what_for) try {
  auto loan = pool_.borrow(until, what_for);
  spare other{loan, until};
  const store::access db{.sheet = sheet_, .session = *loan, .until = until, .spare = has_spare_ ? &other : nullptr};
  try {
    try {
      return use(db);
    } catch (const error& e) {
      if (e.code() != errc::schema_missing || e.outcome_is_unknown() || db.spare == nullptr) throw;
      forget_schema();
    }
    const auto second = db.elsewhere();
    try {
      return use(second);
    } catch (const error& e) {
      if (e.code() == errc::schema_missing) other.agrees();
      throw;
    }
  } catch (const error& e) {
    if (e.connection_is_unusable()) loan.lose();
    if (e.code() == errc::schema_missing) forget_schema();
    throw;
  }
} catch (const error& e) {
  events_.failed(e);
  throw;
}

template <class Use>
auto gateway::run(const driver::limits& until, Use use, purpose what_for) {
  return run_on_any_schema(
      until,
      [&](const store::access& plain) {
        require_fit_schema(plain);
        const auto db = guard_.look(plain);
        if constexpr (std::is_void_v<decltype(use(db))>) {
          use(db);
          guard_.require_fresh(db, plain);
        } else {
          auto out = use(db);
          guard_.require_fresh(db, plain);
          return out;
        }
      },
      what_for);
}

/// The size of batches that no call waits for, as renewals: so that no statement takes long, and no transaction holds a
/// database's locks for long.
inline constexpr std::size_t batch_size = 1024;

template <class T, class Use>
void in_batches(const std::vector<T>& all, Use use) {
  const std::span<const T> whole{all};
  for (std::size_t from = 0; from < whole.size(); from += batch_size)
    use(whole.subspan(from, std::min(batch_size, whole.size() - from)));
}

/// Calls `attempt` until it returns true: a row that another transaction has locked just then says nothing, and is
/// asked again soon. false: it never did.
template <class Attempt>
bool retry_inconclusive(gateway& on, const std::stop_token& stop, Attempt attempt,
                        int most = core::inconclusive_tries) {
  for (int tries = 1; !attempt(); ++tries) {
    if (tries == most) return false;
    on.pause_until(base::later(base::now(), core::inconclusive_pause(tries)), stop);
  }
  return true;
}

/// The same for a call that may have no thread; `attempt` is a task.
template <class Attempt>
task<bool> retry_inconclusive(gateway& on, flow& by, const std::stop_token& stop, Attempt attempt, int most) {
  for (int tries = 1;; ++tries) {
    const bool is_conclusive = co_await attempt();
    if (is_conclusive) co_return true;
    if (tries == most) co_return false;
    gateway::pause a_moment{on, base::later(base::now(), core::inconclusive_pause(tries)), stop};
    co_await by.until(a_moment);
  }
}

/// The same for a client that closes, which no thread repeats anything for later.
template <class Attempt>
void repeat_at_the_end(const driver::limits& until, Attempt attempt) {
  for (int tries = 1; !attempt() && tries < core::inconclusive_only_tries && base::now() < until.deadline; ++tries)
    std::this_thread::sleep_for(core::inconclusive_pause(tries));
}

/// The same for a held lock: throws if there was no answer.
template <class Attempt>
void ask_of_held(gateway& on, const std::stop_token& stop, const lock_name& name, Attempt attempt) {
  if (retry_inconclusive(on, stop, attempt, core::inconclusive_only_tries)) return;
  throw error{errc::call_timed_out,
              "another transaction keeps the row of " + base::quoted(name.view()) + " locked; try again"};
}

}  // namespace rowlock::inline v1::engine
