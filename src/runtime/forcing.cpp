#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "core/error_detail.hpp"
#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"
#include "strategy/forcing.hpp"

// Freeing what somebody else has. What was looked at first is what is freed, and nothing that comes after it.
namespace rowlock::inline v1::detail {

namespace {

using namespace std::chrono_literals;

// Others' statements lock a row too, but not for so long: as a rule, and even on a busy machine.
constexpr duration usual_statement = 100ms;
constexpr duration longest_statement = 1s;

// Whether it is certainly not the one that is meant. A transaction whose token is not known has one that is greater
// than what was committed when it took the row.
bool is_spared(const strategies::possession& what, std::optional<fencing_token> only) {
  if (!only) return false;
  return what.token != fencing_token{} ? what.token != *only : *only <= what.committed;
}

std::string keeper_of(const lock_name& name, const strategies::possession& what) {
  std::string out = "a transaction that the server does not tell of";
  if (what.session) out = "session " + std::to_string(*what.session);
  if (!what.session_name.empty()) out.append(" (").append(what.session_name).append(")");
  return out.append(" keeps \"").append(name.view()).append("\" locked");
}

error unknown_keeper(const lock_name& name, const strategies::possession& what) {
  return {errc::database_error, keeper_of(name, what) +
                                    ": look for it in information_schema.innodb_trx and SHOW PROCESSLIST, or in "
                                    "pg_locks and pg_prepared_xacts, and end it there"};
}

error not_permitted(const lock_name& name, const strategies::possession& what, const error& e) {
  return error_access::make(errc::permission_denied,
                            keeper_of(name, what) + ", and this role may not end it (" + e.what() +
                                "): end it by the role it belongs to or by an administrator",
                            {.native_code = e.native_code(), .sqlstate = std::string{e.sqlstate()}});
}

error not_ended(const lock_name& name, const strategies::possession& what) {
  return error_access::make(errc::call_timed_out, keeper_of(name, what) + ", and has not ended in time",
                            {.retryable = true});
}

}  // namespace

// Until something was done about it, whoever has the name now is meant; from then on only that one. The session that
// keeps the row locked is ended once, and then only waited for.
bool client_impl::force_release(const lock_name& name, std::optional<fencing_token> only) {
  const entered under_way{*this};
  const auto until = call_limits();
  // In a file a transaction keeps everybody from writing, whatever it has; there is nothing to see of it.
  if (!database_->has_row_locks()) free_lease(name, {}, until);
  const auto leaves_before = leaves_.load();
  std::optional<strategies::possession> what;
  core::instant since{};
  bool is_told_to_end = false;
  for (int looks = 1;; ++looks) {
    const auto now = look_for_possession(name, until);
    const bool is_still = now && what && now->is_still(*what);  // one that has been meant, whatever became of its lease
    if (is_told_to_end && !is_still) break;
    if (!now || (!is_still && is_spared(*now, only))) {
      // Of a transaction for so short a time: that was somebody's statement.
      if (!what || (!what->is_committed && driver::now() - since < usual_statement)) return false;
      break;
    }
    if (!what || now->session != what->session || now->committed != what->committed) {
      since = driver::now();
      is_told_to_end = false;
    }
    what = now;
    if (what->is_committed && free_lease(name, *what, until)) break;
    const duration seen_for = driver::now() - since;
    if (is_told_to_end && driver::now() >= until.deadline) throw not_ended(name, *what);
    if (!what->session && seen_for >= std::min<duration>(longest_statement, options_.call_timeout / 2))
      throw unknown_keeper(name, *what);
    if (what->session && seen_for >= usual_statement && !std::exchange(is_told_to_end, true))
      end_keeper(name, *what, until);
    std::this_thread::sleep_for(core::ending_pause(looks));
    check_usable();
  }
  was_released(name, leaves_before);
  if (!what->is_committed) pass_on(name);  // nobody else tells what a transaction that was undone has had
  return true;
}

std::optional<strategies::possession> client_impl::look_for_possession(const lock_name& name,
                                                                       const driver::limits& until) {
  return on_session(until,
                    [&](driver::session& on) { return strategies::find_possession(sql_, on, name.view(), until); });
}

// Sent once: where the reply is lost, the version keeps it from what somebody else has by then.
bool client_impl::free_lease(const lock_name& name, const strategies::possession& what, const driver::limits& until) {
  const bool is_freed = on_session(
      until, [&](driver::session& on) { return strategies::free(sql_, on, name.view(), what.committed, until); });
  if (is_freed) lose_freed(what.acquisition, until);
  return is_freed;
}

void client_impl::end_keeper(const lock_name& name, const strategies::possession& what,
                             const driver::limits& until) try {
  on_session(until, [&](driver::session& on) { database_->end_session(sql_, on, name.view(), *what.session, until); });
} catch (const error& e) {
  if (e.code() != errc::permission_denied || e.connection_is_unusable()) throw;
  throw not_permitted(name, what, e);
}

// What this very client had.
void client_impl::lose_freed(const std::string& id, const driver::limits& until) {
  std::shared_ptr<acquisition> own;
  holdings_.each([&](const std::shared_ptr<acquisition>& a) {
    if (a->id == id) own = a;
  });
  if (own && own->lose(loss_reason::forced)) watchdog_.fire_and_wait({own}, until.deadline);
}

}  // namespace rowlock::inline v1::detail
