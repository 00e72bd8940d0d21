#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>

#include <optional>

#include "core/lock_owner.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/queue/release_notices.hpp"

namespace rowlock::inline v1::engine {

/// Frees a name for any holder. core::force_release_machine decides; what was looked at first is what is freed, and
/// nothing that comes after it.
class force_release {
 public:
  force_release(gateway& db, held_locks& locks, release_notices& notices) : db_{db}, locks_{locks}, notices_{notices} {}

  /// false: nobody has it, or not with that token.
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
