#include "engine/admin/admin.hpp"

#include <rowlock/error.hpp>

#include <string>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "core/error_detail.hpp"
#include "core/force_release_machine.hpp"
#include "core/wait.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

namespace {

std::string describe_blocker(const lock_name& name, const core::lock_owner& what) {
  std::string out = "a transaction whose session is unknown";
  if (what.session) out = "session " + std::to_string(core::to_integer(*what.session));
  if (!what.session_name.empty()) out.append(" (").append(what.session_name).append(")");
  return out + " holds " + base::quoted(name.view());
}

error unknown_session(const lock_name& name, const core::lock_owner& what) {
  return {errc::database_error, describe_blocker(name, what) +
                                    "; look for it in information_schema.innodb_trx and SHOW PROCESSLIST, or in "
                                    "pg_locks and pg_prepared_xacts, and end it there"};
}

error not_permitted(const lock_name& name, const core::lock_owner& what, const error& e) {
  return detail::error_access::make(errc::permission_denied,
                                    describe_blocker(name, what) + ", and this role may not end that (" + e.what() +
                                        "); let its own role or an administrator end it",
                                    {.native_code = e.native_code(), .sqlstate = std::string{e.sqlstate()}});
}

error not_ended(const lock_name& name, const core::lock_owner& what) {
  return detail::error_access::make(
      errc::call_timed_out,
      describe_blocker(name, what) + ", and has not ended in time although that was requested; try again",
      {.retryable = true});
}

}  // namespace

bool force_release::operator()(const lock_name& name, std::optional<fencing_token> only) {
  using enum core::force_release_machine::action;
  const gateway::call under_way{db_};
  const auto until = db_.call_limits();
  // In a file a transaction keeps all other clients from writing, whatever it has locked, and nothing of it is visible.
  if (!db_.database().has_row_locks()) free_lease(name, {}, until);
  if (only)
    if (const auto was_there = free_share(name, *only, until)) return *was_there;
  core::force_release_machine machine{only, db_.options().call_timeout, until.deadline};
  for (int looks = 1;; ++looks) {
    auto next = machine.saw(look(name, until), base::now());
    if (next == free_lease_now)
      next = free_lease(name, machine.owner(), until) ? freed : machine.was_not_freed(base::now());
    switch (next) {
      case nothing_to_free:
        return false;
      case freed:
        notices_.released(name, !db_.can().notifies_waiters);
        // No other notification is sent for a transaction that was undone.
        if (!machine.owner().is_committed) notices_.pass_on(name);
        return true;
      case not_ended:
        throw engine::not_ended(name, machine.owner());
      case unknown_session:
        throw engine::unknown_session(name, machine.owner());
      case end_session_now:
        end_session(name, machine.owner(), until);
        break;
      default:
        break;
    }
    db_.pause_until(base::later(base::now(), core::ending_pause(looks)), until.stop);
    db_.check_usable();
  }
}

std::optional<core::lock_owner> force_release::look(const lock_name& name, const driver::limits& until) {
  auto out = db_.run(until, [&](const store::access& db) { return store::find_lock_owner(db, name.view()); });
  if (!out || !out->is_committed) return out;
  // For a lock that was handed over here, the holder's own token is known.
  locks_.registry().each_of(name, [&](const lease_state& a) {
    if (a.tenure && a.is_held() && a.id.text() == out->acquisition) out->token = a.token;
  });
  return out;
}

// Sent once: if the reply is lost, the version protects a later holder.
bool force_release::free_lease(const lock_name& name, const core::lock_owner& what, const driver::limits& until) {
  std::vector<store::sharer> sharers;
  const bool is_freed = db_.run(until, [&](const store::access& db) {
    if (core::is_shared(what.acquisition)) sharers = store::sharers(db, name.view());
    return store::free(db, name.view(), what.committed);
  });
  if (!is_freed) return false;
  locks_.was_freed(what.acquisition, until);
  for (const auto& each : sharers) locks_.was_freed(each.acquisition, until);
  return true;
}

// Frees one of the shares; nullopt: it is not shared.
std::optional<bool> force_release::free_share(const lock_name& name, fencing_token token,
                                              const driver::limits& until) try {
  std::string acquisition;
  auto outcome = store::release_outcome::gone;
  const bool is_shared = db_.run(until, [&](const store::access& db) {
    const auto all = store::sharers(db, name.view());
    for (const auto& each : all)
      if (each.info.token == token) acquisition = each.acquisition;
    const store::lease_ref one{.name = name.view(), .acquisition = acquisition, .is_share = true};
    if (!acquisition.empty()) outcome = store::release(db, {&one, 1}).at(0);
    return !all.empty();
  });
  if (!is_shared) return std::nullopt;
  if (!store::is_released(outcome)) return false;
  locks_.was_freed(acquisition, until);
  notices_.released(name, outcome == store::release_outcome::released_unnotified);
  return true;
} catch (const error& e) {
  if (e.connection_is_unusable()) locks_.settle_later(name);
  throw;
}

void force_release::end_session(const lock_name& name, const core::lock_owner& what, const driver::limits& until) try {
  db_.run(until, [&](const store::access& db) {
    db_.database().end_session(db.sheet, db.session, name.view(), core::to_integer(*what.session), until);
  });
} catch (const error& e) {
  if (e.code() != errc::permission_denied || e.connection_is_unusable()) throw;
  throw not_permitted(name, what, e);
}

}  // namespace rowlock::inline v1::engine
