#pragma once

#include <rowlock/export.hpp>
#include <rowlock/statistics.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/histogram.hpp"
#include "base/time.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

/// The work of a call to a database that carries out no verb.
enum class chore : std::uint8_t {
  connecting,
  beginning,
  committing,
  rolling_back,
  scripting,
  looking_for_changes,
  ending_sessions,
  waking,
  count_of_chores
};

/// For messages and metrics.
ROWLOCK_EXPORT const char* doing(chore c) noexcept;

/// How long a client's calls to its database took. Thread-safe.
class ROWLOCK_EXPORT call_times {
 public:
  void add(sheets::verb v, std::chrono::nanoseconds took) noexcept;
  void add(chore c, std::chrono::nanoseconds took) noexcept;
  /// By activity, in words; activities that have not occurred are left out.
  std::vector<statement_statistics> read() const;

 private:
  std::array<base::growing_histogram, static_cast<std::size_t>(sheets::verb::count_of_verbs)> verbs_;
  std::array<base::growing_histogram, static_cast<std::size_t>(chore::count_of_chores)> chores_;
};

/// Adds its lifetime to `to`, if that is not nullptr.
template <class What>
class timed {
 public:
  timed(call_times* to, What what) noexcept : to_{to}, what_{what} {
    if (to_ != nullptr) began_ = std::chrono::steady_clock::now();
  }
  timed(const timed&) = delete;
  timed& operator=(const timed&) = delete;
  ~timed() {
    if (to_ != nullptr) to_->add(what_, std::chrono::steady_clock::now() - began_);
  }

 private:
  call_times* const to_;
  const What what_;
  std::chrono::steady_clock::time_point began_{};
};

/// Gives a variable another value during the life of this object.
template <class T>
class scoped_value {
 public:
  scoped_value(T& variable, T value) : variable_{variable}, before_{std::exchange(variable, std::move(value))} {}
  scoped_value(const scoped_value&) = delete;
  scoped_value& operator=(const scoped_value&) = delete;
  ~scoped_value() { variable_ = std::move(before_); }

 private:
  T& variable_;
  T before_;
};

/// An argument of a statement: a view of text need not outlive the call.
using argument = std::variant<std::monostate, std::int64_t, std::string_view>;
/// One request of a batch; a step takes as many of its arguments as its text names.
using request = std::array<argument, std::tuple_size_v<sheets::argument_names>>;
/// A value of an answer.
using cell = std::variant<std::monostate, std::int64_t, std::string>;
using row = std::vector<cell>;

ROWLOCK_EXPORT std::int64_t integer(const cell& c);
ROWLOCK_EXPORT std::optional<std::int64_t> maybe_integer(const cell& c);
ROWLOCK_EXPORT std::string text(const cell& c);  // NULL is empty

/// Whether all requests, whose first argument is a name, are about the same row.
ROWLOCK_EXPORT bool is_about_one_row(std::span<const request> batch) noexcept;

/// How long a call may last, and what ends it earlier (errc::cancelled).
struct limits {
  base::instant deadline = base::instant::max();
  std::stop_token stop{};
};

/// One connection; used by one thread at a time. Every function throws `error`, which says whether the session can
/// still be used and whether the outcome is known.
class ROWLOCK_EXPORT session {
 public:
  session() = default;
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  virtual ~session() = default;

  /// From now on the duration of every call is added to `times`, which must outlive the session.
  void time_by(call_times* times) noexcept { times_ = times; }

  /// Whether the guard over failovers was looked at by this session: another one may be another server's.
  bool knows_guard() const noexcept { return knows_guard_; }
  void has_seen_guard() noexcept { knows_guard_ = true; }

  /// Carries out the step for every request, in one transaction, and answers the rows in no guaranteed order. If it
  /// throws, nothing has happened, unless outcome_is_unknown().
  std::vector<row> run(const sheets::step& what, std::span<const request> batch, const limits& until);
  /// Takes back rows of run() after they were read: their memory may serve the next answer.
  virtual void reuse(std::vector<row>&& /*read*/) noexcept {}
  /// The same as run() for one request, which also reads what other transactions have changed and not committed.
  std::vector<row> run_dirty(const sheets::step& what, const request& one, const limits& until);

  /// Runs `body` while no other client runs exclusively() in this database; all or nothing, if the database supports
  /// that.
  virtual void exclusively(const std::function<void()>& body, const limits& until) = 0;

  /// A transaction that remains open from one call to the next, for strategies that hold a lock by it. It includes
  /// everything that run() does before it ends. After any failure in it the session cannot be used any more.
  void begin(const limits& until);
  void commit(const limits& until);
  /// After the commit it also notifies other clients by that step, if this costs no round trip of its own. The commit
  /// does not depend on it.
  void commit_and_tell(const sheets::step& next, const request& of, const limits& until);
  void rollback(const limits& until);

  /// Runs statements without an answer.
  void script(const std::string& sql);

  /// false: the other side has ended the connection while it was idle. Sends nothing.
  virtual bool looks_alive() noexcept { return true; }

  /// For poll(2): hangs up when the other side ends the connection. -1: there is nothing to watch.
  virtual int descriptor() const noexcept { return -1; }

  /// A number that changes when another connection has committed.
  std::int64_t change_count(const limits& until);

 protected:
  call_times* times() const noexcept { return times_; }

 private:
  virtual std::vector<row> do_run(const sheets::step& what, std::span<const request> batch, const limits& until) = 0;
  virtual std::vector<row> do_run_dirty(const sheets::step& what, const request& one, const limits& until);
  virtual void do_begin(const limits& until);
  virtual void do_commit(const limits& until);
  virtual void do_commit_and_tell(const sheets::step& next, const request& of, const limits& until);
  virtual void do_rollback(const limits& until);
  virtual void do_script(const std::string& sql) = 0;
  virtual std::int64_t do_change_count(const limits& until);

  call_times* times_ = nullptr;
  bool knows_guard_ = false;
};

}  // namespace rowlock::inline v1::driver
