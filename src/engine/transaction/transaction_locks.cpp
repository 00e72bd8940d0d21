#include "engine/transaction/transaction_locks.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "core/identity.hpp"
#include "store/schema.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

namespace {

using store::field;

}  // namespace

error transaction_locks::elsewhere(const std::string& how) {
  return {errc::wrong_transaction_state,
          "the caller's transaction sees " + how +
              ", so it is on another database or schema than the client, or on a copy; use the same one for both"};
}

void transaction_locks::refuse_own(const lock_name& name, const holder& by) {
  locks_.optimists().refuse(name);
  if (!locks_.registry().has(name, by, base::now())) return;
  throw error{errc::would_deadlock, "this holder already holds " + base::quoted(name.view()) +
                                        " through the client, so the transaction would wait for itself; to commit "
                                        "under that lease, call confirm instead of lock_in"};
}

std::string transaction_locks::installation(const driver::limits& until) {
  if (auto known = *installation_.lock(); !known.empty()) return known;
  auto found = db_.run(until, [](const store::access& db) { return store::installation(db); });
  if (found.empty())
    throw error{errc::schema_missing, "rowlock's tables have no installation id; run client::migrate()"};
  return *installation_.lock() = std::move(found);
}

// The client's tables may have been made anew since it found them.
void transaction_locks::settle_installation(const std::string& supposed, const driver::limits& until) {
  installation_.lock()->clear();
  if (installation(until) != supposed) return;
  throw elsewhere("other rowlock tables than the client");
}

// A row that has expired is vacated here and not by the caller: its version is then greater than in any snapshot that
// is older than a late commit of its former holder. In a file one writer is enough, and that is the caller.
transaction_locks::cleared transaction_locks::make_way(const lock_name& name, const driver::limits& until) {
  bool is_released = false;
  auto way = db_.run(until, [&](const store::access& db) {
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
  if (locks_.reap_shares({&name, 1}, until)) return make_way(name, until);
  way.left = locks_.left_of_shares(name, way.left, until);
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

void transaction_locks::note_kept(const lease_state& kept) {
  constexpr std::size_t most = 1000;
  const auto all = kept_.lock();
  if (all->size() == most) all->clear();  // then a name that a savepoint gave back is busy for the rest of that lease
  all->insert_or_assign(std::string{kept.name.view()}, kept.id);
}

// If a transaction took the row from the client's own lease, and gave it back by rolling back to a savepoint, the row
// is that lease's again, on which no holder relies.
std::string transaction_locks::left_to_transactions(const lock_name& name) {
  const auto all = kept_.lock();
  const auto found = all->find(std::string{name.view()});
  return found == all->end() ? std::string{} : std::string{found->second.text()};
}

// A release may grant it, if waiters are notified of that, or wait in turn.
lease_ptr transaction_locks::keep(const lock_name& name, lock_options how, const holder& by, base::instant until,
                                  const std::stop_token& stop) {
  if (!driver::reaches_waiters(db_.database().news())) how.fairness = fairness::fifo;
  return acquirer_.keep_for_transaction(name, how, by, until - base::now(), stop);
}

// --- confirm ---------------------------------------------------------------------------------------------------------

void transaction_locks::confirm(driver::caller_transaction& tx, const lease_ptr& a) {
  const gateway::call under_way{db_};
  const auto in = db_.join(tx);
  ask_of_held(db_, {}, a->name, [&] { return try_confirm(*in, a); });
}

// Held by a lease: the row itself answers. After any other answer the committed state of the row shows why. false:
// inconclusive.
bool transaction_locks::try_confirm(driver::enlisted_transaction& in, const lease_ptr& a) {
  using enum driver::enlisted_result;
  locks_.require_held(*a);
  const auto found =
      ask(a->name, [&](const driver::enlisted_target& at) { return in.pin(at, a->id.text(), a->time_to_live()); });
  if (found == locked || found == old_view) {
    a->was_confirmed_by(core::session_number{in.session()});
    refuse_old_snapshot(in, *a);
  }
  if (found == locked) {
    locks_.require_held(*a);
    return true;
  }
  if (found == elsewhere) return false;
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

// The row does not show whether the snapshot is older than the hand-over, and the former holder may have committed in
// between. The next lock is granted by the database, as was one that was converted: the row shows when.
void transaction_locks::refuse_old_snapshot(driver::enlisted_transaction& in, const lease_state& a) {
  if (!a.tenure || a.was_converted || !in.keeps_snapshot()) return;
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

// The version is read before the transaction sees anything, so its data are at least as new; and over the pool, so that
// no isolation level matters. The uncommitted changes under a late holder's pin are not visible: an expired
// row counts as held until it is vacated, which waits for that.
std::optional<std::int64_t> transaction_locks::see(driver::caller_transaction& tx, const lock_name& name) {
  const gateway::call under_way{db_};
  if (db_.guard().quarantine_left()) return std::nullopt;
  const auto in = db_.join(tx);
  const auto found = ask(name, [&](const driver::enlisted_target& at) { return in->see(at); });
  if (found) return found->what == driver::enlisted_result::locked ? std::optional{found->version} : std::nullopt;
  const auto way = make_way(name, db_.call_limits());
  begin_optimistically(*in);
  return way.is_free && !way.is_locked && !way.is_kept ? std::optional{way.version} : std::nullopt;
}

void transaction_locks::begin_optimistically(driver::enlisted_transaction& in) {
  const auto installation = this->installation();
  if (!in_transaction([&] { return in.begin_optimistically(installation); }))
    settle_installation(installation, db_.call_limits());
}

bool transaction_locks::set(driver::caller_transaction& tx, const lock_name& name, std::int64_t version) {
  const gateway::call under_way{db_};
  db_.look_at_guard(db_.call_limits());
  const auto in = db_.join(tx, db_.guard().is_on());
  const auto found = ask(name, [&](const driver::enlisted_target& at) { return in->set(at, version); });
  return found == driver::enlisted_result::locked;
}

lease_ptr transaction_locks::keep(const lock_name& name, base::instant until) {
  // In a file it cannot be renewed while the body runs.
  constexpr duration length_of_optimists_lease = std::chrono::seconds{5};
  return keep(name, {.lease = length_of_optimists_lease}, holder::this_thread(), until, {});
}

void transaction_locks::give_back(const lease_ptr& kept) noexcept try {
  locks_.release(kept);
} catch (const std::exception&) {  // it was lost, or is released later
}

void transaction_locks::see_kept(driver::caller_transaction& tx) {
  const gateway::call under_way{db_};
  begin_optimistically(*db_.join(tx));
}

// No other client has held the name since before the transaction began, and the pin keeps it to its end. The version
// grows when the lease is released.
bool transaction_locks::set_kept(driver::caller_transaction& tx, const lease_ptr& kept) {
  const gateway::call under_way{db_};
  const auto in = db_.join(tx);
  const auto found = ask(kept->name, [&](const driver::enlisted_target& at) {
    in->end_optimistically();
    return in->pin(at, kept->id.text(), kept->time_to_live());
  });
  return found == driver::enlisted_result::locked && kept->is_held_at(base::now());
}

}  // namespace rowlock::inline v1::engine
