#include "engine/gateway/guard.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/checks.hpp"
#include "core/error_detail.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

constexpr duration fresh_for = 10s;
constexpr duration relied_on_for = 2 * fresh_for;
constexpr duration doubted_after = 100ms;
// The changes of the guard by others, while this client changes it.
constexpr int most_changes = 20;

constexpr int schema_with_guard = 2;

guard_status status_of(const std::optional<store::guard_row>& row) {
  if (!row) return {};
  return {.quarantine = row->quarantine,
          .left = row->quarantine && row->left > duration::zero() ? std::optional{row->left} : std::nullopt,
          .since = row->since,
          .incarnation = row->incarnation,
          .term = row->term,
          .relaxed = row->is_relaxed};
}

[[noreturn]] void refuse_former_primary() {
  throw detail::error_access::make(errc::connection_failed,
                                   "this server shows an older state of the lock tables than one that this client has "
                                   "used before, so it is a former primary; stop it, and connect to the present one",
                                   {.retryable = true, .connection_unusable = true});
}

// Without a guard, leases that a failover has forgotten have no protection.
store::guard_row switched_off(const store::guard_row& seen) {
  if (const auto left = status_of(seen).left)
    throw error{errc::invalid_option,
                "a quarantine is on for " + core::in_whole_seconds(*left) +
                    ", and would end with the guard; wait until it is over, or end it first (rowlock guard "
                    "--end-quarantine)"};
  return {.term = seen.term + 1};
}

// Where the incarnation differs by node though nothing was lost.
void refuse_clusters(const store::access& on) {
  for (const auto& each : on.run(sheets::verb::settings)) {
    const auto name = each.text(store::field::name);
    const auto value = each.text(store::field::value);
    if (name == "wsrep_on" && value == "ON")
      throw error{
          errc::unsupported,
          "a Galera cluster needs no guard: a commit is on all nodes before it is answered, and any of them may "
          "be used next"};
    if (name == "group_replication_group_name" && !value.empty())
      throw error{errc::unsupported,
                  "group replication needs no guard: no commit is lost that a majority has received; set "
                  "group_replication_consistency to BEFORE_ON_PRIMARY_FAILOVER"};
  }
}

}  // namespace

// --- looking ---------------------------------------------------------------------------------------------------------

store::access failover_guard::look(const store::access& on) {
  if (!plain_.can().guards_failovers) return on;
  if (!is_fresh() || (is_on() && !on.session.knows_guard())) read(on);
  if (!is_on()) return on;
  return {.sheet = guarded(),
          .session = on.session,
          .until = on.until,
          .spare = on.spare,
          .is_guarded = true,
          .longest_lease = duration{longest_lease_.load()}};
}

void failover_guard::require_fresh(const store::access& on, const store::access& plain) {
  if (on.is_guarded || !plain_.can().guards_failovers) return;
  if (base::now() - at(read_at_) < relied_on_for) return;
  try {
    read(plain);
  } catch (const error& e) {  // what was granted may be without the guard
    throw error{detail::error_access::changed(e, [](detail::error_access::answers& a) { a.outcome_unknown = true; })};
  }
  if (!is_on()) return;
  throw detail::error_access::make(errc::connection_failed,
                                   "the guard over failovers was switched on while this process was stopped",
                                   {.retryable = true, .outcome_unknown = true});
}

std::optional<store::guard_row> failover_guard::read(const store::access& on) {
  const auto asked = base::now();
  auto row = follow(on);
  publish(row, asked);
  on.session.has_seen_guard();
  return row;
}

// If the server continues another history, or has crashed while the guard was relaxed, the row is replaced before
// anything else is asked there: nothing is granted by the old row, since every statement compares it. A lost reply, or
// another client that does the same: the row is read again, and then names the server. A row that a second failover has
// lost names no server that runs, so the next client replaces it again. A session does not outlive a crash.
std::optional<store::guard_row> failover_guard::follow(const store::access& on) {
  for (int tries = 0; tries < most_changes; ++tries) {
    auto row = store::see_guard(on);
    if (!row || !row->quarantine) return row;
    const auto own = store::incarnation_of_server(on);
    if (own.empty()) return row;  // a standby grants nothing
    if (store::is_complete(on, *row, own)) {
      if (row->term < term_) refuse_former_primary();
      return row;
    }
    store::guard_row next = *row;
    next.term = std::max(row->term, term_.load()) + 1;
    next.incarnation = own;
    next.left = *row->quarantine;
    store::set_guard(on, row->term, next, false);
  }
  throw error{errc::contention, "the guard over failovers is changed again and again by other clients"};
}

void failover_guard::publish(const std::optional<store::guard_row>& row, base::instant asked) {
  const bool is_on = row && row->quarantine;
  const auto left = is_on ? std::max(row->left, duration::zero()) : duration::zero();
  const bool was_quarantine = quarantine_left().has_value();
  is_relaxed_ = is_on && row->is_relaxed;
  longest_lease_ = is_on ? row->quarantine->count() : off;
  term_ = is_on ? std::max(row->term, term_.load()) : 0;
  const auto now = base::now();
  grants_from_ = base::later(now, left).time_since_epoch().count();
  read_at_ = asked.time_since_epoch().count();
  fresh_until_ = base::later(asked, fresh_for).time_since_epoch().count();
  if (left > duration::zero() && !was_quarantine)
    events_.report({events::quarantine{.left = left, .incarnation = row->incarnation}});
}

void failover_guard::doubt() noexcept {
  if (is_on() && base::now() - at(read_at_) > doubted_after) fresh_until_ = 0;
}

const sheets::sheet& failover_guard::guarded() {
  const bool may_relax = is_relaxed_;
  auto& one = may_relax ? relaxed_ : strict_;
  std::call_once(one.is_made, [&] { one.sheet.emplace(make_guarded_(may_relax)); });
  return *one.sheet;
}

std::optional<duration> failover_guard::quarantine_left() const noexcept {
  const auto left = at(grants_from_) - base::now();
  return is_on() && left > duration::zero() ? std::optional{left} : std::nullopt;
}

void failover_guard::require_short(duration lease, const char* what) const {
  if (lease <= duration{longest_lease_.load()}) return;
  throw error{errc::invalid_option, std::string{what} + " of " + core::in_milliseconds(lease) +
                                        " is longer than the quarantine of the guard over failovers, " +
                                        core::in_milliseconds(duration{longest_lease_.load()}) +
                                        "; choose a shorter one, or a longer quarantine (rowlock guard --quarantine)"};
}

// --- for operators ---------------------------------------------------------------------------------------------------

guard_status failover_guard::status(const store::access& on) {
  return plain_.can().guards_failovers ? status_of(read(on)) : guard_status{};
}

guard_status failover_guard::set(const store::access& on, std::optional<duration> quarantine,
                                 const guard_options& options) {
  if (quarantine) core::check_quarantine(*quarantine);
  if (options.relaxed && !quarantine)
    throw error{
        errc::invalid_option,
        "a relaxed guard needs a quarantine: it is on after a crash of the server, too, which may lose the last "
        "grants"};
  if (!plain_.can().guards_failovers)
    throw error{errc::unsupported, "an SQLite file has one history of commits, so it needs no guard over failovers"};
  if (!quarantine) {
    auto out = change(on, switched_off, false);
    store::serve_from(on, schema_with_guard, 1);
    return out;
  }
  if (options.relaxed && !plain_.can().notices_crashes)
    throw error{
        errc::unsupported,
        "only PostgreSQL has a relaxed guard: here no table shows that the server has crashed, so grants wait for "
        "the disk"};
  refuse_clusters(on);
  const auto own = store::incarnation_of_server(on);
  // First: programs that do not know the guard are refused before any relies on it.
  store::serve_from(on, schema_with_guard, schema_with_guard);
  return change(
      on,
      [&](const store::guard_row& seen) {
        return store::guard_row{.term = seen.term + 1,
                                .quarantine = quarantine,
                                .incarnation = own,
                                .left = seen.left,
                                .is_relaxed = options.relaxed};
      },
      true);
}

guard_status failover_guard::end_quarantine(const store::access& on) {
  return change(
      on,
      [](store::guard_row seen) {
        ++seen.term;
        seen.left = std::min(seen.left, duration::zero());
        return seen;
      },
      false);
}

// After a lost reply the row is the new one or the old one: the operator looks at the error, and asks again.
guard_status failover_guard::change(const store::access& on,
                                    const std::function<store::guard_row(store::guard_row)>& to,
                                    bool left_as_leases_demand) {
  for (int tries = 0; tries < most_changes; ++tries) {
    const auto row = follow(on);
    if (!row) throw error{errc::schema_older, "the table of the guard has no row; run client::migrate()"};
    // A quarantine that is on goes on.
    const bool is_over = row->left <= duration::zero();
    const auto next = to(*row);
    const auto set = row->is_relaxed && !next.is_relaxed ? store::tighten_guard : store::set_guard;
    if (set(on, row->term, next, left_as_leases_demand && is_over)) return status(on);
  }
  throw error{errc::contention, "the guard over failovers is changed again and again by other clients"};
}

}  // namespace rowlock::inline v1::engine
