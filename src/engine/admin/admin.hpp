#pragma once

#include <rowlock/diagnosis.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/guard_status.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/waiter_info.hpp>

#include <optional>
#include <string_view>
#include <vector>

#include "core/identity.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/queue/release_notices.hpp"

namespace rowlock::inline v1::engine {

/// Answers operators' questions about the database, and applies its schema.
class inspector {
 public:
  inspector(gateway& db, lock_registry& held) : db_{db}, held_{held} {}

  std::vector<lock_info> list(std::string_view prefix);
  std::optional<lock_info> find(const lock_name& name);
  std::vector<lock_info> sharers(const lock_name& name);
  std::vector<waiter_info> waiters(const lock_name& name);
  std::vector<waiter_info> list_waiters(std::string_view prefix);
  database_statistics statistics();

  void check();
  std::vector<finding> diagnose();
  guard_status guard();
  guard_status set_guard(std::optional<duration> quarantine, const guard_options& options);
  guard_status end_quarantine();
  void migrate();
  rowlock::schema_status schema_status();

 private:
  template <class Ask>
  auto ask(Ask what);
  template <class Ask>
  auto ask_and_report(Ask what);
  void amend(lock_info& info, std::string_view acquisition);

  gateway& db_;
  lock_registry& held_;
};

/// Frees a name for any holder. core::force_release_machine decides; only the holder that was seen first is freed, and
/// no later one.
class force_release {
 public:
  force_release(gateway& db, held_locks& locks, release_notices& notices) : db_{db}, locks_{locks}, notices_{notices} {}

  /// false: no client holds it, or not with that token.
  bool operator()(const lock_name& name, std::optional<fencing_token> only);

 private:
  std::optional<core::lock_owner> look(const lock_name& name, const driver::limits& until);
  std::optional<bool> free_share(const lock_name& name, fencing_token token, const driver::limits& until);
  bool free_lease(const lock_name& name, const core::lock_owner& what, const driver::limits& until);
  void end_session(const lock_name& name, const core::lock_owner& what, const driver::limits& until);

  gateway& db_;
  held_locks& locks_;
  release_notices& notices_;
};

}  // namespace rowlock::inline v1::engine
