#pragma once

#include <rowlock/lock_info.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/waiter_info.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity.hpp"
#include "core/sharing.hpp"
#include "store/access.hpp"

namespace rowlock::inline v1::store {

/// nullopt: no client holds the name.
std::optional<core::lock_owner> find_lock_owner(const access& db, std::string_view name);

/// Vacates the row if it still has that version and an owner. false: it has not, or another transaction has it locked.
bool free(const access& db, std::string_view name, fencing_token version);

/// A row of the lock table.
struct row_state {
  fencing_token token;
  std::string acquisition;
  bool is_vacant = true;
  std::optional<duration> left;  ///< absent: no lease
  bool is_waited_for = false;    ///< by a queue that must be looked at before a free name is taken

  bool is_shared() const { return !is_vacant && core::is_shared(acquisition); }
  bool is_free() const { return is_vacant || (left && *left <= duration::zero()); }
  /// Even if its lease has ended.
  bool is_held_by(std::string_view some_acquisition) const { return !is_vacant && acquisition == some_acquisition; }
};
row_state row_state_of(const record& r);
/// nullopt: there is no row.
std::optional<row_state> look_at(const access& db, std::string_view name);
/// The same for a row that should exist: if it is missing, another connection is asked, too.
std::optional<row_state> look_twice_at(const access& db, std::string_view name);

/// A row in the public form.
lock_info info_of(const record& r);

/// Called with each row that has a committed owner, and its acquisition; it may correct the row.
using row_reader = std::function<void(lock_info& info, std::string_view acquisition)>;

/// nullopt: no client holds the name.
std::optional<lock_info> find(const access& db, std::string_view name, const row_reader& amend = {});

/// A transaction that keeps a row locked.
struct blocker {
  lock_info info;
  std::optional<core::session_number> session{};
};
/// As far as the server shows. For a row that has an owner few servers do, unless the transaction itself has taken it.
std::vector<blocker> find_blockers(const access& db, std::string_view name, bool has_owner);
/// The transaction that has taken a row that looks free.
std::optional<blocker> find_blocker(const access& db, std::string_view name);

/// Rows that were written by hand with an invalid name are left out; the name is added to `invalid_names`.
std::vector<lock_info> list(const access& db, std::string_view prefix, std::vector<std::string>& invalid_names,
                            const row_reader& amend = {});

/// In the order of the tickets.
std::vector<waiter_info> waiters(const access& db, std::string_view name);
/// In the order of the names, then of the tickets; tickets that were written by hand are treated as rows in `list`.
std::vector<waiter_info> list_waiters(const access& db, std::string_view prefix,
                                      std::vector<std::string>& invalid_names);

database_statistics count(const access& db, std::vector<std::string>& invalid_names);

}  // namespace rowlock::inline v1::store
