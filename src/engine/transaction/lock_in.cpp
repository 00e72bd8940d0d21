#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"
#include "core/wait.hpp"
#include "engine/transaction/transaction_locks.hpp"
#include "store/inspection.hpp"

namespace rowlock::inline v1::engine {

namespace {

using namespace std::chrono_literals;
using driver::enlisted_result;

// For a transaction that takes a snapshot of all data. After that it waits in the database, which finds out whether
// others wait for it.
constexpr duration longest_wait_outside = 2s;
// Other programs that make a row commit at once.
constexpr duration longest_wait_for_making = 1s;
// Of the client itself, until the transaction has the row locked. Others see it for so long after that, and then what
// they see of every transaction.
constexpr duration length_of_kept_lease = 1s;
// For so long it is left alone if the transaction fails: the next attempt, at once, takes the row from it, and finds it
// unchanged since its first read.
constexpr duration time_to_begin_again = 250ms;
// A name that was released so lately is likely to be taken before a transaction has the file's write lock.
constexpr duration lately = 100ms;
// How long a statement may wait in the database if the caller may stop it.
constexpr duration longest_deaf_wait = 200ms;

// On MySQL, above READ COMMITTED, a transaction that looks for a missing row, as after it was swept, keeps others from
// making it.
error own_gap(const lock_name& name) {
  return {errc::serialization_failure,
          "the row of " + base::quoted(name.view()) +
              " is missing, and no client can create it while this transaction, which has looked "
              "for it, keeps the gap locked; roll it back, and begin again"};
}

error cannot_be_released(const lock_name& name) {
  return {errc::contention, "another client holds " + base::quoted(name.view()) +
                                " and cannot release it, because this transaction keeps others from writing to the "
                                "file; roll it back, and begin again with lock_in as the first statement"};
}

/// The lease of the client itself by which it keeps a name for a transaction.
class kept_name {
 public:
  kept_name(held_locks& in, lease_ptr lease) : in_{in}, lease_{std::move(lease)} {}
  kept_name(const kept_name&) = delete;
  kept_name& operator=(const kept_name&) = delete;
  ~kept_name() {
    if (!lease_) return;
    const bool begins_again = std::uncaught_exceptions() > exceptions_;
    in_.leave_to_transaction(lease_, begins_again ? time_to_begin_again : duration::zero());
  }
  const lease_ptr& operator*() const noexcept { return lease_; }

 private:
  held_locks& in_;
  const lease_ptr lease_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace

/// A call of lock_in.
class transaction_locks::lock_in_call {
 public:
  lock_in_call(transaction_locks& of, driver::caller_transaction& tx, const lock_name& name,
               const lock_in_options& options, const holder& by, duration wait, std::stop_token stop)
      : of_{of},
        db_{of.db_},
        tx_{tx},
        is_guarded_{db_.guard().is_on()},
        in_{db_.join(tx_, is_guarded_)},
        name_{name},
        options_{options},
        by_{by},
        waits_{wait > duration::zero()},
        backoff_{base::now(), base::later(base::now(), wait)},
        stop_{std::move(stop)} {}

  std::optional<transaction_lock> take_vacant();
  /// nullopt: stopped, or not in time; or, unless it `insists`, in a file in which the holder cannot release it any
  /// more.
  std::optional<transaction_lock> wait(bool insists);

 private:
  std::optional<transaction_lock> try_once();
  std::optional<transaction_lock> take_in_turn();
  std::optional<transaction_lock> take_kept(const lease_state& kept);
  void follow_guard();
  bool may_be_taken_first(const cleared& way) const;
  bool may_ask_for_released(const cleared& way, driver::take_options& how);
  bool is_locked_by_caller();
  bool is_pinned_by(std::int64_t sign);

  /// Of a look over the pool.
  driver::limits limits() const {
    return waits_ ? db_.limits_of_wait(backoff_.deadline(), stop_) : db_.call_limits(stop_);
  }
  bool is_over() const { return stop_.stop_requested() || backoff_.is_over(base::now()); }
  void refused(core::retry_backoff::refusal why = {}) { backoff_.was_refused(why, base::now(), base::jitter()); }
  /// false: the pool could not be used; the next time it may be usable.
  template <class Use>
  bool ridden_out(Use use) try {
    use();
    return true;
  } catch (const error& e) {
    if (e.code() == errc::cancelled && stop_.stop_requested()) return false;
    if (!e.is_retryable() && !e.outcome_is_unknown()) throw;
    backoff_.failed(e, base::now(), base::jitter());
    return false;
  }

  transaction_locks& of_;
  gateway& db_;
  driver::caller_transaction& tx_;
  bool is_guarded_;
  std::unique_ptr<driver::enlisted_transaction> in_;
  const lock_name& name_;
  const lock_in_options& options_;
  const holder& by_;
  const bool waits_;
  core::retry_backoff backoff_;
  const std::stop_token stop_;
  bool has_asked_ = false;  // in the transaction
  bool is_leased_ = false;  // by another holder, when it was last seen
  bool asks_anew_ = false;  // the tables were made anew since the client found out which they are
  duration in_database_{};  // about how long it may wait there
  /// Since when it waits for a transaction that pins an acquisition that this client has released.
  std::optional<base::instant> pinned_since_{};
};

std::optional<transaction_lock> transaction_locks::lock_in(driver::caller_transaction& tx, const lock_name& name,
                                                           std::optional<duration> wait, const lock_in_options& options,
                                                           const std::stop_token& stop) {
  core::check(options);
  const gateway::call under_way{db_};
  const holder by = options.as ? *options.as : holder::this_thread();
  refuse_own(name, by);
  const auto longest = std::max(wait.value_or(duration::max()), duration::zero());
  lock_in_call call{*this, tx, name, options, by, longest, stop};
  if (!stop.stop_requested())
    if (auto locked = call.take_vacant()) return locked;
  return call.wait(!wait);
}

// If the name was vacant when it was last seen, the pool would only answer that it still is.
std::optional<transaction_lock> transaction_locks::lock_in_call::take_vacant() {
  const auto installation = *of_.installation_.lock();
  if (installation.empty() || !db_.guard().is_fresh() || db_.guard().quarantine_left() ||
      !of_.vacant_.may_have(name_.view()))
    return std::nullopt;
  const auto version = in_transaction(
      [&] { return in_->take_vacant({.name = name_.view(), .installation = installation}, options_.note); });
  if (version) return transaction_lock{name_, fencing_token{*version}};
  of_.vacant_.forget(name_.view());
  return std::nullopt;
}

std::optional<transaction_lock> transaction_locks::lock_in_call::wait(bool insists) {
  while (!stop_.stop_requested()) {
    if (auto locked = try_once()) return locked;
    if (stop_.stop_requested()) break;
    if (std::exchange(asks_anew_, false)) continue;
    const bool is_last = backoff_.is_over(base::now());
    if (is_last || !in_->lets_others_go_on()) {
      backoff_.throw_if_never_answered();
      if (is_last || !insists) return std::nullopt;
      throw cannot_be_released(name_);
    }
    // A waiter in a queue changes the row, though not its holder: PostgreSQL does not let a snapshot pass that.
    if (is_leased_ && !in_->takes_snapshot()) {
      if (auto locked = take_in_turn()) return locked;
    } else {
      db_.pause_until(backoff_.next_try(), stop_);
    }
    db_.check_usable();
    in_database_ = backoff_.deadline() - base::now();
    if (stop_.stop_possible()) in_database_ = std::min(in_database_, longest_deaf_wait);
  }
  return std::nullopt;
}

// If leases are granted and released, a name is vacant for moments only. So the client waits in turn for a lease of its
// own, like any waiter, and the transaction takes the row from that: no other client can acquire it in between. No
// holder works under that lease, so a snapshot can miss only what was done before its grant.
std::optional<transaction_lock> transaction_locks::lock_in_call::take_in_turn() {
  const kept_name kept{of_.locks_, of_.keep(name_, {.lease = length_of_kept_lease, .note = options_.note}, by_,
                                            backoff_.deadline(), stop_)};
  if (!*kept) return std::nullopt;
  of_.note_kept(**kept);
  return take_kept(**kept);
}

// The pool, which was asked just now, has looked at it if it was not fresh.
void transaction_locks::lock_in_call::follow_guard() {
  if (db_.guard().is_on() == is_guarded_) return;
  is_guarded_ = !is_guarded_;
  in_ = db_.join(tx_, is_guarded_);
}

// Another transaction may have the row, or the file, locked just then.
std::optional<transaction_lock> transaction_locks::lock_in_call::take_kept(const lease_state& kept) {
  follow_guard();
  const driver::take_options how{.note = options_.note, .released = kept.id.text()};
  for (int tries = 1; kept.is_held() && !stop_.stop_requested(); ++tries) {
    has_asked_ = true;
    const auto found = of_.ask(kept.name, [&](const driver::enlisted_target& at) { return in_->take(at, how); });
    if (found.what == enlisted_result::locked) return transaction_lock{kept.name, fencing_token{found.version}};
    if (is_over()) break;
    const auto pause = core::inconclusive_pause(std::min(tries, core::inconclusive_tries - 1));
    db_.pause_until(base::later(base::now(), pause), stop_);
    db_.check_usable();
  }
  return std::nullopt;
}

// Only the pool's failures are ridden out; the transaction's failures are for its owner.
std::optional<transaction_lock> transaction_locks::lock_in_call::try_once() {
  std::string installation;
  cleared way{.is_free = true};
  const auto look = [&] {
    installation = of_.installation(limits());
    if (in_->lets_others_go_on()) {
      way = of_.make_way(name_, limits());
    } else {
      way.released = of_.left_to_transactions(name_);
    }
  };
  if (!ridden_out(look)) return std::nullopt;
  follow_guard();
  if (const auto left = db_.guard().quarantine_left()) {
    is_leased_ = false;
    refused({.left = left});
    return std::nullopt;
  }
  const auto waited = backoff_.waited(base::now());
  const bool is_others = !way.is_free && way.released.empty();
  const bool is_expired = is_others && way.left && *way.left <= duration::zero();
  is_leased_ = (is_others && !is_expired) || may_be_taken_first(way);
  if (is_leased_) of_.contended_.add(name_.view());
  if (way.is_missing && (has_asked_ || waited > longest_wait_for_making)) throw own_gap(name_);
  // A snapshot that is taken now would be older than the future commit of the transaction that has the row locked.
  if (way.is_locked && !db_.options().transaction_pooling && waited < longest_wait_outside && in_->takes_snapshot())
    if (!ridden_out([&] { way.is_free = is_locked_by_caller(); })) return std::nullopt;
  if (is_leased_ && way.is_free) return std::nullopt;
  // It has ended, and cannot be vacated: a transaction has it locked, which may wait for this one.
  if (is_expired && (waited >= longest_wait_outside || !in_->keeps_snapshot())) way.is_free = true;
  driver::take_options how{.note = options_.note, .released = way.released, .wait = in_database_};
  if (!way.is_free && (way.released.empty() || !may_ask_for_released(way, how))) {
    refused({.left = way.left});
    return std::nullopt;
  }
  has_asked_ = true;
  const auto found =
      in_transaction([&] { return in_->take({.name = name_.view(), .installation = installation}, how); });
  if (found.what == enlisted_result::locked) {
    of_.vacant_.remember(name_.view(), db_.database().has_row_locks() ? 0 : found.version);
    return transaction_lock{name_, fencing_token{found.version}};
  }
  if (found.what == enlisted_result::elsewhere) {
    asks_anew_ = true;
    ridden_out([&] { of_.settle_installation(installation, limits()); });
    return std::nullopt;
  }
  of_.contended_.add(name_.view());
  db_.guard().doubt();
  refused();
  return std::nullopt;
}

// In a file the transaction cannot give back the write lock. If it finds the name taken, the holder cannot release
// anything any more. So a name that others have used just now is kept for it first.
bool transaction_locks::lock_in_call::may_be_taken_first(const cleared& way) const {
  if (db_.database().has_row_locks() || way.version == 0 || is_over() || !of_.contended_.may_contain(name_.view()))
    return false;
  const auto since = std::chrono::system_clock::now().time_since_epoch() - duration{way.version};
  return since < lately && !of_.vacant_.may_have(name_.view(), way.version);
}

// A transaction pins an acquisition that this client has released, because it has confirmed it before. If it is this
// transaction, it continues with its row. If it is another one of this client's transactions, it ends without a trace
// in the row, and the work under that lock need not be in this transaction's snapshot: then the row must be vacated
// over the pool first, which every snapshot shows. false: so it waits for that, as far as it is known here. In the end
// the row is asked for nevertheless, since only the database finds out whether the other transaction waits for this
// one.
bool transaction_locks::lock_in_call::may_ask_for_released(const cleared& way, driver::take_options& how) {
  if (!in_->keeps_snapshot()) return true;
  const auto own_session = core::session_number{in_->session()};
  const bool may_be_own = core::to_integer(way.confirmed_by) > 0 && way.confirmed_by == own_session;
  how.pins = [this, may_be_own](std::int64_t sign) {
    bool does = false;  // while the pool cannot answer
    if (may_be_own) ridden_out([&] { does = is_pinned_by(sign); });
    return does;
  };
  if (!pinned_since_) pinned_since_ = base::now();
  const bool has_waited = base::now() - *pinned_since_ >= longest_wait_outside;
  if (!has_waited) how.wait = {};
  return may_be_own || has_waited;
}

// The session that has the vacant row locked may be the caller's.
bool transaction_locks::lock_in_call::is_locked_by_caller() {
  return db_.run(limits(), [&](const store::access& db) {
    const auto row = store::look_at(db, name_.view());
    if (!row || !(row->is_free() || row->acquisition == of_.left_to_transactions(name_))) return false;
    const auto by = store::find_blocker(db, name_.view());
    return by && by->session == core::session_number{in_->session()};
  });
}

bool transaction_locks::lock_in_call::is_pinned_by(std::int64_t sign) {
  return db_.run(limits(), [&](const store::access& db) {
    return !db.run(sheets::verb::pinned_by, {{store::field::name, name_.view()}, {store::field::sign, sign}}).empty();
  });
}

}  // namespace rowlock::inline v1::engine
