#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "core/checks.hpp"
#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"
#include "strategy/inspection.hpp"
#include "strategy/trying.hpp"

// Locks in transactions of the caller's. What is done over the pool is committed at once, and decides nothing: it makes
// way, so that the caller's transaction need only lock a vacant row.
namespace rowlock::inline v1::detail {

namespace {

std::string quoted(const lock_name& name) { return "\"" + std::string{name.view()} + "\""; }

// For a transaction that takes a snapshot of all data. After that it waits in the database, which finds out whether it
// is waited for itself.
constexpr duration longest_wait_outside = std::chrono::seconds{2};
// Whoever else makes a row commits at once.
constexpr duration longest_wait_for_making = std::chrono::seconds{1};

void sleep_until(core::instant t) {
  std::this_thread::sleep_for(std::max<duration>(t - driver::now(), duration::zero()));
}

}  // namespace

struct client_impl::cleared {
  bool is_free = false;
  bool is_locked = false;          ///< by a transaction
  bool is_missing = false;         ///< and could not be made just now
  std::optional<duration> left{};  ///< of the holder's lease
  std::int64_t version = 0;        ///< of a vacant row
  std::string released{};          ///< what this client has let go of, and somebody's transaction keeps in the row
  std::int64_t confirmed_by = 0;   ///< by which session of the server, as the acquisition tells it; 0: or not known
};

/// A call of lock_in.
struct client_impl::joining {
  runtime::patience patience;
  bool has_asked = false;  ///< in the transaction
  duration in_database{};  ///< for so long, about, it may wait there
  /// Since when it waits for a transaction that keeps in the row what this client has let go of.
  std::optional<core::instant> pinned_since{};
};

namespace {

error elsewhere(const std::string& how) {
  return {errc::wrong_transaction_state,
          "the transaction finds " + how + ": it is on another database or schema, or on a copy"};
}

// On MySQL, above READ COMMITTED, whoever looks for a row that is not there, as after it was swept, keeps others from
// making it.
error own_gap(const lock_name& name) {
  return {errc::serialization_failure, "the row of " + quoted(name) +
                                           " is missing, and cannot be made while this transaction, which has looked "
                                           "for it, keeps its place locked: roll it back, and begin again"};
}

// false: the pool could not be used, which may be over the next time.
template <class Use>
bool ridden_out(runtime::patience& so_far, Use use) try {
  use();
  return true;
} catch (const error& e) {
  if (so_far.is_over() || (!e.is_retryable() && !e.outcome_is_unknown())) throw;
  so_far.failed(e);
  return false;
}

// The client has found its tables over its own connections.
template <class Use>
auto in_transaction(Use use) try {
  return use();
} catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  throw elsewhere(std::string{"no tables of rowlock's ("} + e.what() + ")");
}

}  // namespace

void client_impl::refuse_own(const lock_name& name, const holder& by) {
  if (!holdings_.has(name, by, driver::now())) return;
  throw error{errc::would_deadlock, "this very holder has " + quoted(name) +
                                        " by a lock of the client's, for which the transaction would wait in vain; to "
                                        "commit under a lease, confirm it"};
}

std::optional<transaction_lock> client_impl::lock_in(caller_transaction& tx, const lock_name& name,
                                                     std::optional<duration> wait, const lock_in_options& options) {
  core::check(options);
  const entered under_way{*this};
  const auto in = database_->join(tx);
  refuse_own(name, options.as ? *options.as : holder::this_thread());
  const auto deadline = core::later(driver::now(), std::max(wait.value_or(duration::max()), duration::zero()));
  joining so_far{.patience = runtime::patience{deadline}};
  for (;; so_far.in_database = deadline - driver::now()) {
    if (auto had = try_lock_in(*in, name, options, so_far)) return had;
    if (so_far.patience.is_over()) {
      so_far.patience.throw_if_never_answered();
      return std::nullopt;
    }
    if (!in->lets_others_go_on()) {
      so_far.patience.throw_if_never_answered();
      break;
    }
    sleep_until(so_far.patience.next_try());
    check_usable();
  }
  if (wait) return std::nullopt;
  throw error{errc::contention, "somebody has " + quoted(name) +
                                    ", and cannot let go of it before this transaction ends, as it keeps others from "
                                    "writing to the file: roll it back, and begin again with the lock"};
}

// Only the pool's failures are ridden out; the transaction's are its owner's.
std::optional<transaction_lock> client_impl::try_lock_in(driver::guest& in, const lock_name& name,
                                                         const lock_in_options& options, joining& so_far) {
  auto& patience = so_far.patience;
  std::string home;
  cleared way{.is_free = true};
  const auto look = [&] {
    home = this->home();
    if (in.lets_others_go_on()) way = make_way(name);
  };
  if (!ridden_out(patience, look)) return std::nullopt;
  if (way.is_missing && (so_far.has_asked || patience.waited() > longest_wait_for_making)) throw own_gap(name);
  // A snapshot that is taken now would be older than what whoever has the row locked may commit.
  if (way.is_locked && !options_.transaction_pooling && patience.waited() < longest_wait_outside && in.takes_snapshot())
    if (!ridden_out(patience, [&] { way.is_free = is_locked_by(name, in.session()); })) return std::nullopt;
  driver::wish_in how{.note = options.note, .released = way.released, .wait = so_far.in_database};
  if (!way.is_free && (way.released.empty() || !may_ask_for_released(in, name, way, how, so_far))) {
    patience.was_refused({.left = way.left});
    return std::nullopt;
  }
  so_far.has_asked = true;
  const auto found = in_transaction([&] { return in.take({.name = name.view(), .home = home}, how); });
  if (found.what == driver::finding::had) return transaction_lock{name, fencing_token{found.version}};
  if (found.what == driver::finding::elsewhere) settle_home(home);
  patience.was_refused({});
  return std::nullopt;
}

// What this client has let go of, a transaction keeps in the row: it has confirmed it before. If that is this one, it
// goes on with what it has. If it is another of this client's, it ends without a trace in the row, and what was done
// under that lock, a snapshot of this one need not show: then the row has to be vacated over the pool first, which
// every snapshot shows. false: so it is waited for, as far as is known here. In the end it is asked for all the same,
// since only the database finds out whether the other transaction waits for this one.
bool client_impl::may_ask_for_released(driver::guest& in, const lock_name& name, const cleared& way,
                                       driver::wish_in& how, joining& so_far) {
  if (!in.keeps_snapshot()) return true;
  const bool may_be_own = way.confirmed_by > 0 && way.confirmed_by == in.session();
  how.pins = [this, &name, &so_far, may_be_own](std::int64_t sign) {
    bool does = false;  // as long as the pool cannot tell
    if (may_be_own) ridden_out(so_far.patience, [&] { does = is_pinned_by(name, sign); });
    return does;
  };
  if (!so_far.pinned_since) so_far.pinned_since = driver::now();
  const bool has_waited = driver::now() - *so_far.pinned_since >= longest_wait_outside;
  if (!has_waited) how.wait = {};
  return may_be_own || has_waited;
}

// Whoever has the vacant row locked may be that very session.
bool client_impl::is_locked_by(const lock_name& name, std::int64_t session) {
  const auto until = call_limits();
  return on_session(until, [&](driver::session& on) {
    const auto found = strategies::find(sql_, on, name.view(), until);
    return found && found->thread == "session " + std::to_string(session);
  });
}

bool client_impl::is_pinned_by(const lock_name& name, std::int64_t sign) {
  const auto until = call_limits();
  return on_session(until, [&](driver::session& on) {
    const driver::request asked{name.view(), sign};
    return !on.run(sql_[dialect::verb::pinned_by], {&asked, 1}, until).empty();
  });
}

// A row that has expired is vacated here and not by the caller: its version is then greater than in any snapshot that
// is older than what its late holder may have committed. In a file one writer is enough, and that is the caller.
client_impl::cleared client_impl::make_way(const lock_name& name) {
  const auto until = call_limits();
  const auto leaves_before = leaves_.load();
  bool is_released = false;
  auto way = on_session(until, [&](driver::session& on) {
    auto found = look_for_way(name, on, until);
    const bool is_over = found && found->left && *found->left <= duration::zero();
    if (!database_->has_row_locks()) return !found || is_over ? cleared{.is_free = true} : *found;
    if (found && !is_over && found->released.empty()) return *found;
    const driver::request asked{name.view(), found ? std::string_view{found->released} : std::string_view{}};
    const auto how = !found ? dialect::verb::make : is_over ? dialect::verb::vacate_expired : dialect::verb::release;
    is_released = !strategies::run_to_make(sql_, how, on, {&asked, 1}, until).empty();
    return look_for_way(name, on, until).value_or(cleared{.is_missing = true});
  });
  if (is_released) was_released(name, leaves_before);
  return way;
}

// nullopt: there is no row.
std::optional<client_impl::cleared> client_impl::look_for_way(const lock_name& name, driver::session& on,
                                                              const driver::limits& until) {
  const driver::request asked{name.view()};
  const auto& touching = sql_[dialect::verb::touch];
  const bool tells_of_locks = !touching.look.empty();
  const auto rows = on.run(tells_of_locks ? touching : sql_[dialect::verb::inspect], {&asked, 1}, until);
  if (rows.empty()) return std::nullopt;
  const auto row = strategies::row_state_of(rows[0]);
  if (row.is_vacant)
    return cleared{.is_free = true,
                   .is_locked = tells_of_locks && driver::integer(rows[0].back()) == 0,
                   .version = row.token.value()};
  const bool is_over = row.left && *row.left <= duration::zero();
  const auto confirmed_by = undo_.confirmed_by(row.acquisition, driver::now());
  const bool is_let_go = confirmed_by || (is_over && ids_.made(row.acquisition));
  return cleared{.left = row.left,
                 .released = is_let_go ? row.acquisition : std::string{},
                 .confirmed_by = confirmed_by.value_or(0)};
}

std::string client_impl::home() {
  if (auto known = *home_.lock(); !known.empty()) return known;
  const auto until = call_limits();
  auto found = on_session(until, [&](driver::session& on) {
    const driver::request nothing{};
    const auto rows = on.run(sql_[dialect::verb::home], {&nothing, 1}, until);
    return rows.empty() ? std::string{} : driver::text(rows[0].at(0));
  });
  if (found.empty())
    throw error{errc::schema_missing, "rowlock's tables have no installation id; run client::migrate()"};
  return *home_.lock() = std::move(found);
}

// The client's tables may have been made anew since it has asked.
void client_impl::settle_home(const std::string& supposed) {
  home_.lock()->clear();
  if (home() != supposed) return;
  throw elsewhere("other tables of rowlock's than the client has");
}

// Held by lease: the row itself tells. After any answer but "had" the committed state of the row says why.
void client_impl::confirm(caller_transaction& tx, const std::shared_ptr<acquisition>& a) {
  const entered under_way{*this};
  const auto in = database_->join(tx);
  for (int tries = 1;; ++tries) {
    require_held(*a);
    const auto home = this->home();
    const auto found =
        in_transaction([&] { return in->pin({.name = a->name.view(), .home = home}, a->id, a->lease()); });
    if (found == driver::finding::had || found == driver::finding::old_view) a->was_confirmed_by(in->session());
    if (found == driver::finding::had) return require_held(*a);
    if (found == driver::finding::elsewhere) {
      settle_home(home);
      continue;
    }
    auto why = found == driver::finding::expired
                   ? strategies::renewal{.what = strategies::standing::lost, .why = loss_reason::expired}
                   : standing_of(*a);
    if (why.what == strategies::standing::lost) {
      lost(a, why.why);
      require_held(*a);
    }
    if (found == driver::finding::old_view) return require_held(*a);  // pinned, and then found to be alive
    if (found == driver::finding::unseen)
      throw error{errc::stale_snapshot,
                  "this transaction's snapshot is older than what " + quoted(a->name) +
                      " has become: what it has read may have been changed since; begin it again"};
    if (tries == core::inconclusive_tries)
      throw error{errc::call_timed_out, "somebody kept the row of " + quoted(a->name) + " locked"};
    std::this_thread::sleep_for(core::inconclusive_pause(tries));
  }
}

strategies::renewal client_impl::standing_of(const acquisition& a) {
  const auto until = call_limits();
  return on_session(until, [&](driver::session& on) {
    return strategies::standing_of(strategies::look_at(sql_, on, a.name.view(), until), a.id);
  });
}

// The version is read before the transaction sees anything, and so its data are at least as new; over the pool, so that
// no isolation level is in the way. Nobody can see what a lease's late holder has pinned and not committed yet: an
// expired row counts as held until it was vacated, which waits for that.
std::optional<std::int64_t> client_impl::see(caller_transaction& tx, const lock_name& name) {
  const entered under_way{*this};
  const auto in = database_->join(tx);
  const auto home = this->home();
  const auto found = in_transaction([&] { return in->begin_optimistically({.name = name.view(), .home = home}); });
  if (found && found->what == driver::finding::elsewhere) settle_home(home);
  if (found) return found->what == driver::finding::had ? std::optional{found->version} : std::nullopt;
  const auto way = make_way(name);
  if (!in_transaction([&] { return in->is_at(home); })) settle_home(home);
  return way.is_free && !way.is_locked ? std::optional{way.version} : std::nullopt;
}

bool client_impl::set(caller_transaction& tx, const lock_name& name, std::int64_t version) {
  const entered under_way{*this};
  const auto home = this->home();
  const auto found =
      in_transaction([&] { return database_->join(tx)->set({.name = name.view(), .home = home}, version); });
  if (found == driver::finding::elsewhere) settle_home(home);
  return found == driver::finding::had;
}

}  // namespace rowlock::inline v1::detail
