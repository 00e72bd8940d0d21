#include "engine/transaction/transaction_locks.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/jitter.hpp"
#include "base/text.hpp"
#include "core/checks.hpp"
#include "core/identity.hpp"
#include "store/inspection.hpp"
#include "store/schema.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

namespace {

using namespace std::chrono_literals;
using store::field;

// For a transaction that takes a snapshot of all data. After that it waits in the database, which finds out whether it
// is waited for itself.
constexpr duration longest_wait_outside = 2s;
// Other programs that make a row commit at once.
constexpr duration longest_wait_for_making = 1s;
// Of the client itself, until the transaction has the row locked. Others see it for so long after that, and then what
// they see of every transaction.
constexpr duration length_of_kept_lease = 1s;
// For so long it is left alone if the transaction fails: the next attempt, at once, takes the row from it, and does not
// find that it has changed since what it has read first.
constexpr duration time_to_begin_again = 250ms;
// The same for optimistically(). In a file it cannot be renewed while the body runs.
constexpr duration length_of_optimists_lease = 5s;
// A name that was released so lately is likely to be taken before a transaction has the file's write lock.
constexpr duration lately = 100ms;
// How long a statement may wait in the database if the caller may stop it.
constexpr duration longest_deaf_wait = 200ms;

error elsewhere(const std::string& how) {
  return {errc::wrong_transaction_state,
          "the caller's transaction sees " + how +
              ", so it is on another database or schema than the client, or on a copy; use the same one for both"};
}

// On MySQL, above READ COMMITTED, a transaction that looks for a row that is not there, as after it was swept, keeps
// others from making it.
error own_gap(const lock_name& name) {
  return {errc::serialization_failure,
          "the row of " + base::quoted(name.view()) +
              " is missing, and nobody can create it while this transaction, which has looked "
              "for it, keeps the gap locked; roll it back, and begin again"};
}

error cannot_be_released(const lock_name& name) {
  return {errc::contention, "another client holds " + base::quoted(name.view()) +
                                " and cannot release it, because this transaction keeps others from writing to the "
                                "file; roll it back, and begin again with lock_in as the first statement"};
}

// The client has found its tables over its own connections.
template <class Use>
auto in_transaction(Use use) try {
  return use();
} catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  throw elsewhere(std::string{"no rowlock tables ("} + e.what() + ")");
}

}  // namespace

/// What the pool's connections see of a name.
struct transaction_locks::cleared {
  bool is_free = false;
  bool is_shared = false;
  bool is_locked = false;          ///< by a transaction
  bool is_missing = false;         ///< and could not be made just now
  bool is_kept = false;            ///< by a lease of this client that was for a transaction: nobody works under it
  std::optional<duration> left{};  ///< of the holder's lease
  std::int64_t version = 0;        ///< of a vacant row
  std::string released{};          ///< an acquisition that this client has released and somebody's transaction pins
  /// The session that has confirmed it.
  core::session_number confirmed_by = core::session_number::unknown;
};

/// A call of lock_in, so far.
struct transaction_locks::progress {
  core::retry_backoff backoff;
  std::stop_token stop;
  bool has_asked = false;  ///< in the transaction
  bool is_leased = false;  ///< by another, when it was seen last
  bool asks_anew = false;  ///< the tables were made anew since the client had asked which they are
  duration in_database{};  ///< about how long it may wait there
  /// Since when it waits for a transaction that pins what this client has released.
  std::optional<base::instant> pinned_since{};

  void refused(core::retry_backoff::refusal why = {}) { backoff.was_refused(why, base::now(), base::jitter()); }
  bool is_over() const { return stop.stop_requested() || backoff.is_over(base::now()); }
  /// false: the pool could not be used, which may be over the next time.
  template <class Use>
  bool ridden_out(Use use) try {
    use();
    return true;
  } catch (const error& e) {
    if (is_over() || (!e.is_retryable() && !e.outcome_is_unknown())) throw;
    backoff.failed(e, base::now(), base::jitter());
    return false;
  }
};

void transaction_locks::refuse_own(const lock_name& name, const holder& by) {
  locks_.optimists().refuse(name);
  if (!locks_.registry().has(name, by, base::now())) return;
  throw error{errc::would_deadlock, "this holder already has " + base::quoted(name.view()) +
                                        " through the client, so the transaction would wait for itself; to commit "
                                        "under that lease, call confirm instead of lock_in"};
}

// --- lock_in ---------------------------------------------------------------------------------------------------------

std::optional<transaction_lock> transaction_locks::lock_in(driver::caller_transaction& tx, const lock_name& name,
                                                           std::optional<duration> wait, const lock_in_options& options,
                                                           const std::stop_token& stop) {
  core::check(options);
  const gateway::call under_way{db_};
  const auto in = db_.database().join(tx);
  refuse_own(name, options.as ? *options.as : holder::this_thread());
  const auto deadline = base::later(base::now(), std::max(wait.value_or(duration::max()), duration::zero()));
  if (!stop.stop_requested())
    if (auto locked = take_vacant(*in, name, options)) return locked;
  progress so_far{.backoff = {base::now(), deadline}, .stop = stop};
  for (;;) {
    if (stop.stop_requested()) return std::nullopt;
    if (auto locked = try_lock_in(*in, name, options, so_far)) return locked;
    if (std::exchange(so_far.asks_anew, false)) continue;
    const bool is_last = so_far.backoff.is_over(base::now());
    if (is_last || !in->lets_others_go_on()) {
      so_far.backoff.throw_if_never_answered();
      if (is_last || wait) return std::nullopt;
      throw cannot_be_released(name);
    }
    // What waits in a queue changes the row, if not its holder: PostgreSQL does not let a snapshot pass that.
    if (so_far.is_leased && !in->takes_snapshot()) {
      if (auto locked = take_in_turn(*in, name, options, so_far)) return locked;
    } else {
      db_.pause_until(so_far.backoff.next_try(), stop);
    }
    db_.check_usable();
    so_far.in_database = deadline - base::now();
    if (stop.stop_possible()) so_far.in_database = std::min(so_far.in_database, longest_deaf_wait);
  }
}

/// The lease of the client itself by which it keeps a name for a transaction.
class transaction_locks::kept_name {
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

// Granted by a release wherever a waiter is told of that, or waits in turn.
lease_ptr transaction_locks::keep(const lock_name& name, lock_options how, const holder& by, base::instant until,
                                  const std::stop_token& stop) {
  if (!driver::reaches_waiters(db_.database().news())) how.fairness = fairness::fifo;
  return acquirer_.keep_for_transaction(name, how, by, until - base::now(), stop);
}

// Where leases are granted and released, a name is vacant for moments only. So the client waits in turn for a lease of
// its own, as any waiter, and the transaction takes the row from that: nobody else can have it in between. Nobody works
// under that lease, so there is nothing that a snapshot could miss but what was done before its grant.
std::optional<transaction_lock> transaction_locks::take_in_turn(driver::enlisted_transaction& in, const lock_name& name,
                                                                const lock_in_options& options, progress& so_far) {
  const kept_name kept{locks_,
                       keep(name, {.lease = length_of_kept_lease, .note = options.note},
                            options.as ? *options.as : holder::this_thread(), so_far.backoff.deadline(), so_far.stop)};
  if (!*kept) return std::nullopt;
  note_kept(**kept);
  return take_kept(in, **kept, options, so_far);
}

void transaction_locks::note_kept(const lease_state& kept) {
  constexpr std::size_t most = 1000;
  const auto all = kept_.lock();
  if (all->size() == most) all->clear();  // then a name that a savepoint gave back is busy for the rest of that lease
  all->insert_or_assign(std::string{kept.name.view()}, kept.id);
}

// What a transaction took from the client's own lease, and gave back by rolling back to a savepoint, is that lease's
// again: nobody relies on it.
std::string transaction_locks::left_to_transactions(const lock_name& name) {
  const auto all = kept_.lock();
  const auto found = all->find(std::string{name.view()});
  return found == all->end() ? std::string{} : std::string{found->second.text()};
}

// Somebody may have the row locked just then, or the file.
std::optional<transaction_lock> transaction_locks::take_kept(driver::enlisted_transaction& in, const lease_state& kept,
                                                             const lock_in_options& options, progress& so_far) {
  const driver::take_options how{.note = options.note, .released = kept.id.text()};
  for (int tries = 1; kept.is_held() && !so_far.stop.stop_requested(); ++tries) {
    const auto installation = this->installation();
    so_far.has_asked = true;
    const auto found =
        in_transaction([&] { return in.take({.name = kept.name.view(), .installation = installation}, how); });
    if (found.what == driver::enlisted_result::locked) return transaction_lock{kept.name, fencing_token{found.version}};
    if (found.what == driver::enlisted_result::elsewhere) settle_installation(installation);
    if (so_far.is_over()) break;
    const auto pause = core::inconclusive_pause(std::min(tries, core::inconclusive_tries - 1));
    db_.pause_until(base::later(base::now(), pause), so_far.stop);
    db_.check_usable();
  }
  return std::nullopt;
}

// Of a name that was vacant when it was seen last, the pool would only say that it still is.
std::optional<transaction_lock> transaction_locks::take_vacant(driver::enlisted_transaction& in, const lock_name& name,
                                                               const lock_in_options& options) {
  const auto installation = *installation_.lock();
  if (installation.empty() || !vacant_.may_have(name)) return std::nullopt;
  const auto version =
      in_transaction([&] { return in.take_vacant({.name = name.view(), .installation = installation}, options.note); });
  if (version) return transaction_lock{name, fencing_token{*version}};
  vacant_.forget(name);
  return std::nullopt;
}

// Only the pool's failures are ridden out; the transaction's are its owner's.
std::optional<transaction_lock> transaction_locks::try_lock_in(driver::enlisted_transaction& in, const lock_name& name,
                                                               const lock_in_options& options, progress& so_far) {
  std::string installation;
  cleared way{.is_free = true};
  const auto look = [&] {
    installation = this->installation();
    if (in.lets_others_go_on()) {
      way = make_way(name);
    } else {
      way.released = left_to_transactions(name);
    }
  };
  if (!so_far.ridden_out(look)) return std::nullopt;
  const auto waited = so_far.backoff.waited(base::now());
  const bool is_others = !way.is_free && way.released.empty();
  const bool is_over = is_others && way.left && *way.left <= duration::zero();
  so_far.is_leased = (is_others && !is_over) || may_be_taken_first(name, way, so_far);
  if (so_far.is_leased) contended_.add(name.view());
  if (way.is_missing && (so_far.has_asked || waited > longest_wait_for_making)) throw own_gap(name);
  // A snapshot that is taken now would be older than what the transaction that has the row locked may commit.
  if (way.is_locked && !db_.options().transaction_pooling && waited < longest_wait_outside && in.takes_snapshot())
    if (!so_far.ridden_out([&] { way.is_free = is_locked_by(name, in.session()); })) return std::nullopt;
  if (so_far.is_leased && way.is_free) return std::nullopt;
  // It has ended, and cannot be vacated: a transaction has it locked, which may wait for this one.
  if (is_over && (waited >= longest_wait_outside || !in.keeps_snapshot())) way.is_free = true;
  driver::take_options how{.note = options.note, .released = way.released, .wait = so_far.in_database};
  if (!way.is_free && (way.released.empty() || !may_ask_for_released(in, name, way, how, so_far))) {
    so_far.refused({.left = way.left});
    return std::nullopt;
  }
  so_far.has_asked = true;
  const auto found = in_transaction([&] { return in.take({.name = name.view(), .installation = installation}, how); });
  if (found.what == driver::enlisted_result::locked) {
    vacant_.remember(name, db_.database().has_row_locks() ? 0 : found.version);
    return transaction_lock{name, fencing_token{found.version}};
  }
  if (found.what == driver::enlisted_result::elsewhere) {
    so_far.asks_anew = true;
    so_far.ridden_out([&] { settle_installation(installation); });
    return std::nullopt;
  }
  contended_.add(name.view());
  so_far.refused();
  return std::nullopt;
}

// In a file the transaction cannot give back the write lock. Where it finds the name taken, its holder can release
// nothing any more: so a name that others have used just now is kept for it first.
bool transaction_locks::may_be_taken_first(const lock_name& name, const cleared& way, const progress& so_far) {
  if (db_.database().has_row_locks() || way.version == 0 || so_far.is_over() || !contended_.may_contain(name.view()))
    return false;
  const auto since = std::chrono::system_clock::now().time_since_epoch() - duration{way.version};
  return since < lately && !vacant_.may_have(name, way.version);
}

// A transaction pins what this client has released: it has confirmed it before. If that is this transaction, it goes on
// with what it has. If it is another one of this client's, it ends without a trace in the row, and what was done under
// that lock need not be in this transaction's snapshot: then the row must be vacated over the pool first, which every
// snapshot shows. false: so it is waited for, as far as it is known here. In the end it is asked for all the same,
// since only the database finds out whether the other transaction waits for this one.
bool transaction_locks::may_ask_for_released(driver::enlisted_transaction& in, const lock_name& name,
                                             const cleared& way, driver::take_options& how, progress& so_far) {
  if (!in.keeps_snapshot()) return true;
  const auto own_session = core::session_number{in.session()};
  const bool may_be_own = core::to_integer(way.confirmed_by) > 0 && way.confirmed_by == own_session;
  how.pins = [this, &name, &so_far, may_be_own](std::int64_t sign) {
    bool does = false;  // as long as the pool cannot tell
    if (may_be_own) so_far.ridden_out([&] { does = is_pinned_by(name, sign); });
    return does;
  };
  if (!so_far.pinned_since) so_far.pinned_since = base::now();
  const bool has_waited = base::now() - *so_far.pinned_since >= longest_wait_outside;
  if (!has_waited) how.wait = {};
  return may_be_own || has_waited;
}

// The session that has the vacant row locked may be the caller's.
bool transaction_locks::is_locked_by(const lock_name& name, std::int64_t session) {
  return db_.run(db_.call_limits(), [&](const store::access& db) {
    const auto row = store::look_at(db, name.view());
    if (!row || !(row->is_free() || row->acquisition == left_to_transactions(name))) return false;
    const auto by = store::find_blocker(db, name.view());
    return by && by->session == core::session_number{session};
  });
}

bool transaction_locks::is_pinned_by(const lock_name& name, std::int64_t sign) {
  return db_.run(db_.call_limits(), [&](const store::access& db) {
    return !db.run(sheets::verb::pinned_by, {{field::name, name.view()}, {field::sign, sign}}).empty();
  });
}

// A row that has expired is vacated here and not by the caller: its version is then greater than in any snapshot that
// is older than what its late holder may have committed. In a file one writer is enough, and that is the caller.
transaction_locks::cleared transaction_locks::make_way(const lock_name& name) {
  bool is_released = false;
  auto way = db_.run(db_.call_limits(), [&](const store::access& db) {
    auto found = look_for_way(name, db);
    const bool is_over = found && found->left && *found->left <= duration::zero();
    if (!db_.database().has_row_locks()) return !found || is_over ? cleared{.is_free = true} : *found;
    if (found && (found->is_kept || (!is_over && found->released.empty()))) return *found;
    const store::arguments asked{{field::name, name.view()},
                                 {field::acquisition, found ? std::string_view{found->released} : std::string_view{}}};
    const auto how = !found ? sheets::verb::make : is_over ? sheets::verb::vacate_expired : sheets::verb::release;
    is_released = !strategies::run_to_make(db, how, {&asked, 1}).empty();
    return look_for_way(name, db).value_or(cleared{.is_missing = true});
  });
  if (is_released) notices_.released(name, true);
  if (!way.is_shared || !db_.database().has_row_locks()) return way;
  if (locks_.reap_shares(name, db_.call_limits())) return make_way(name);
  way.left = locks_.left_of_shares(name, way.left, db_.call_limits());
  return way;
}

// nullopt: there is no row.
std::optional<transaction_locks::cleared> transaction_locks::look_for_way(const lock_name& name,
                                                                          const store::access& db) {
  const bool tells_of_locks = db_.can().shows_locked_rows;
  const auto rows = db.run(tells_of_locks ? sheets::verb::touch : sheets::verb::inspect, {{field::name, name.view()}});
  if (rows.empty()) return std::nullopt;
  const auto row = store::row_state_of(rows[0]);
  const bool is_locked = tells_of_locks && !rows[0].is_true(field::is_unlocked);
  if (row.is_vacant) return cleared{.is_free = true, .is_locked = is_locked, .version = row.token.value()};
  if (row.acquisition == left_to_transactions(name))
    return cleared{.is_free = true, .is_locked = is_locked, .is_kept = true, .released = row.acquisition};
  const bool is_over = row.left && *row.left <= duration::zero();
  const auto confirmed_by = locks_.unresolved_ones().permits(row.acquisition, base::now());
  const bool is_released = confirmed_by || (is_over && who_.made(row.acquisition));
  return cleared{.is_shared = row.is_shared(),
                 .left = row.left,
                 .released = is_released ? row.acquisition : std::string{},
                 .confirmed_by = confirmed_by.value_or(core::session_number::unknown)};
}

std::string transaction_locks::installation() {
  if (auto known = *installation_.lock(); !known.empty()) return known;
  auto found = db_.run(db_.call_limits(), [](const store::access& db) { return store::installation(db); });
  if (found.empty())
    throw error{errc::schema_missing, "rowlock's tables have no installation id; run client::migrate()"};
  return *installation_.lock() = std::move(found);
}

// The client's tables may have been made anew since it has asked.
void transaction_locks::settle_installation(const std::string& supposed) {
  installation_.lock()->clear();
  if (installation() != supposed) return;
  throw elsewhere("other rowlock tables than the client");
}

// --- confirm ---------------------------------------------------------------------------------------------------------

void transaction_locks::confirm(driver::caller_transaction& tx, const lease_ptr& a) {
  const gateway::call under_way{db_};
  const auto in = db_.database().join(tx);
  ask_of_held(db_, {}, a->name, [&] { return try_confirm(*in, a); });
}

// Held by a lease: the row itself tells. After any other answer the committed state of the row says why. false:
// inconclusive.
bool transaction_locks::try_confirm(driver::enlisted_transaction& in, const lease_ptr& a) {
  using enum driver::enlisted_result;
  locks_.require_held(*a);
  const auto installation = this->installation();
  const auto found = in_transaction(
      [&] { return in.pin({.name = a->name.view(), .installation = installation}, a->id.text(), a->time_to_live()); });
  if (found == locked || found == old_view) {
    a->was_confirmed_by(core::session_number{in.session()});
    refuse_old_snapshot(in, *a);
  }
  if (found == locked) {
    locks_.require_held(*a);
    return true;
  }
  if (found == elsewhere) {
    settle_installation(installation);
    return false;
  }
  const auto why = found == expired
                       ? store::renewal{.what = store::standing::lost, .left = {}, .why = loss_reason::expired}
                       : standing_of(*a);
  if (why.what == store::standing::lost) {
    locks_.gone(a, why.why);
    locks_.require_held(*a);
  }
  if (found == old_view) {  // pinned, and then found to be alive
    locks_.require_held(*a);
    return true;
  }
  if (found == unseen)
    throw error{errc::stale_snapshot, "the lock " + base::quoted(a->name.view()) +
                                          " was renewed or acquired after this transaction took its snapshot, so what "
                                          "it has read may be out of date; roll it back, and begin again"};
  return false;
}

// The row does not tell whether the snapshot is older than the hand-over, and the holder before may have committed in
// between. The next lock is granted by the database.
void transaction_locks::refuse_old_snapshot(driver::enlisted_transaction& in, const lease_state& a) {
  if (!a.tenure || !in.keeps_snapshot()) return;
  locks_.handing_over().stop();
  throw error{errc::stale_snapshot,
              "the lock " + base::quoted(a.name.view()) +
                  " was handed over by another thread of this client, which this transaction's snapshot may not show; "
                  "roll it back, and acquire the lock again: from now on this client hands over none, as with "
                  "client_options::handover = false"};
}

store::renewal transaction_locks::standing_of(const lease_state& a) {
  return db_.run(db_.call_limits(), [&](const store::access& db) {
    return store::standing_of(store::look_twice_at(db, a.name.view()), a.id.text());
  });
}

// --- optimistically --------------------------------------------------------------------------------------------------

// The version is read before the transaction sees anything, and so its data are at least as new; over the pool, so that
// no isolation level is in the way. Nobody can see what a lease's late holder has pinned and not committed yet: an
// expired row counts as held until it was vacated, which waits for that.
std::optional<std::int64_t> transaction_locks::see(driver::caller_transaction& tx, const lock_name& name) {
  const gateway::call under_way{db_};
  const auto in = db_.database().join(tx);
  const auto installation = this->installation();
  const auto found = in_transaction([&] { return in->see({.name = name.view(), .installation = installation}); });
  if (found && found->what == driver::enlisted_result::elsewhere) settle_installation(installation);
  if (found) return found->what == driver::enlisted_result::locked ? std::optional{found->version} : std::nullopt;
  const auto way = make_way(name);
  if (!in_transaction([&] { return in->begin_optimistically(installation); })) settle_installation(installation);
  return way.is_free && !way.is_locked && !way.is_kept ? std::optional{way.version} : std::nullopt;
}

bool transaction_locks::set(driver::caller_transaction& tx, const lock_name& name, std::int64_t version) {
  const gateway::call under_way{db_};
  const auto installation = this->installation();
  const auto found = in_transaction(
      [&] { return db_.database().join(tx)->set({.name = name.view(), .installation = installation}, version); });
  if (found == driver::enlisted_result::elsewhere) settle_installation(installation);
  return found == driver::enlisted_result::locked;
}

lease_ptr transaction_locks::keep(const lock_name& name, base::instant until) {
  return keep(name, {.lease = length_of_optimists_lease}, holder::this_thread(), until, {});
}

void transaction_locks::give_back(const lease_ptr& kept) noexcept try {
  locks_.release(kept);
} catch (const std::exception&) {  // it was lost, or is released later
}

void transaction_locks::see_kept(driver::caller_transaction& tx) {
  const gateway::call under_way{db_};
  const auto installation = this->installation();
  const auto in = db_.database().join(tx);
  if (!in_transaction([&] { return in->begin_optimistically(installation); })) settle_installation(installation);
}

// Nobody has had the name since before the transaction began, and the pin keeps it to its end. The version grows when
// the lease is released.
bool transaction_locks::set_kept(driver::caller_transaction& tx, const lease_ptr& kept) {
  const gateway::call under_way{db_};
  const auto installation = this->installation();
  const auto in = db_.database().join(tx);
  const auto found = in_transaction([&] {
    in->end_optimistically();
    return in->pin({.name = kept->name.view(), .installation = installation}, kept->id.text(), kept->time_to_live());
  });
  if (found == driver::enlisted_result::elsewhere) settle_installation(installation);
  return found == driver::enlisted_result::locked && kept->is_held_at(base::now());
}

}  // namespace rowlock::inline v1::engine
