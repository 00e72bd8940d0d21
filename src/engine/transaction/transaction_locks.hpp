#pragma once

#include <rowlock/error.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/transaction.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "base/guarded.hpp"
#include "base/recent_names.hpp"
#include "driver/enlisted_transaction.hpp"
#include "engine/acquire/acquirer.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/queue/release_notices.hpp"

namespace rowlock::inline v1::engine {

/// Locks inside the caller's own transaction. Work over the pool is committed at once and decides nothing: it vacates
/// the row, so that the caller's transaction need only lock a vacant row.
class transaction_locks {
 public:
  transaction_locks(gateway& db, identity& who, held_locks& locks, acquirer& acquiring, release_notices& notices)
      : db_{db}, who_{who}, locks_{locks}, acquirer_{acquiring}, notices_{notices} {}

  /// Without `wait`: as long as it takes; throws cancelled on `stop`. nullopt: busy, or stopped.
  std::optional<transaction_lock> lock_in(driver::caller_transaction& tx, const lock_name& name,
                                          std::optional<duration> wait, const lock_in_options& options,
                                          const std::stop_token& stop);
  void confirm(driver::caller_transaction& tx, const lease_ptr& a);
  /// The version of a name that no client holds; nullopt: it is held.
  std::optional<std::int64_t> see(driver::caller_transaction& tx, const lock_name& name);
  /// false: another client has held the name since it was seen with that version.
  bool set(driver::caller_transaction& tx, const lock_name& name, std::int64_t version);
  /// For optimistically(), if other clients were repeatedly faster: a lease of the client itself, acquired in turn,
  /// under which the next attempt cannot be disturbed. nullptr: not until then.
  lease_ptr keep(const lock_name& name, base::instant until);
  void give_back(const lease_ptr& kept) noexcept;
  /// In place of see() and set(), under such a lease. set() pins it to the end of the transaction. false: it was lost.
  void see_kept(driver::caller_transaction& tx);
  bool set_kept(driver::caller_transaction& tx, const lease_ptr& kept);
  /// Throws would_deadlock if this holder holds the name, or this thread runs optimistically() for it.
  void refuse_own(const lock_name& name, const holder& by);
  /// This thread runs optimistically() for the name until end_optimistically().
  void begin_optimistically(const lock_name& name) { locks_.optimists().begin(name); }
  void end_optimistically(const lock_name& name) noexcept { locks_.optimists().end(name); }
  /// Between two attempts of optimistically(): returns early if the client closes.
  void pause_until(base::instant t) { db_.pause_until(t, {}); }

 private:
  class lock_in_call;
  /// The name as the pool's connections see it.
  struct cleared {
    bool is_free = false;
    bool is_shared = false;
    bool is_locked = false;          ///< by a transaction
    bool is_missing = false;         ///< and could not be made just now
    bool is_kept = false;            ///< by a lease of this client that was for a transaction: no holder works under it
    std::optional<duration> left{};  ///< of the holder's lease
    std::int64_t version = 0;        ///< of a vacant row
    std::string released{};          ///< an acquisition that this client has released and another transaction pins
    /// The session that has confirmed it.
    core::session_number confirmed_by = core::session_number::unknown;
  };

  static error elsewhere(const std::string& how);
  static driver::enlisted_result result_of(driver::enlisted_result r) { return r; }
  static driver::enlisted_result result_of(const driver::lock_view& seen) { return seen.what; }
  static driver::enlisted_result result_of(const std::optional<driver::lock_view>& seen) {
    return seen.value_or(driver::lock_view{}).what;
  }
  // The client has found its tables over its own connections.
  template <class Use>
  static auto in_transaction(Use use) try {
    return use();
  } catch (const error& e) {
    if (e.code() != errc::schema_missing) throw;
    throw elsewhere(std::string{"no rowlock tables ("} + e.what() + ")");
  }
  /// Asks in the caller's transaction about a name. Throws if it is in another installation than the client.
  template <class Use>
  auto ask(const lock_name& name, Use use) {
    const auto installation = this->installation();
    const auto found = in_transaction([&] { return use({.name = name.view(), .installation = installation}); });
    if (result_of(found) == driver::enlisted_result::elsewhere) settle_installation(installation, db_.call_limits());
    return found;
  }

  cleared make_way(const lock_name& name, const driver::limits& until);
  std::optional<cleared> look_for_way(const lock_name& name, const store::access& db);
  void note_kept(const lease_state& kept);
  std::string left_to_transactions(const lock_name& name);
  lease_ptr keep(const lock_name& name, lock_options how, const holder& by, base::instant until,
                 const std::stop_token& stop);
  bool try_confirm(driver::enlisted_transaction& in, const lease_ptr& a);
  void begin_optimistically(driver::enlisted_transaction& in);
  std::string installation(const driver::limits& until);
  std::string installation() { return installation(db_.call_limits()); }
  void settle_installation(const std::string& supposed, const driver::limits& until);
  void refuse_old_snapshot(driver::enlisted_transaction& in, const lease_state& a);
  store::renewal standing_of(const lease_state& a);

  gateway& db_;
  identity& who_;
  held_locks& locks_;
  acquirer& acquirer_;
  release_notices& notices_;
  base::guarded<std::string> installation_;  // empty: not asked for yet
  base::vacant_names vacant_;
  base::recent_names contended_;                                               // in files
  base::guarded<std::unordered_map<std::string, core::acquisition_id>> kept_;  // for transactions, the last of a name
};

}  // namespace rowlock::inline v1::engine
