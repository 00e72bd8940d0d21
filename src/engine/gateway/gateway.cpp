#include "engine/gateway/gateway.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/waits.hpp"
#include "core/error_detail.hpp"

namespace rowlock::inline v1::engine {

void in_flight_calls::wait_for_the_last(base::instant deadline) {
  is_awaited_ = true;
  auto state = state_.lock();
  base::wait_until(none_, state.lock(), deadline, {}, [this] { return count_ == 0; });
}

void in_flight_calls::leave() noexcept {
  if (--count_ > 0 || !is_awaited_) return;
  const auto state = state_.lock();  // not between the waiter's look and its sleep
  none_.notify_all();
}

namespace {

// "rowlock host:pid", of an owner "rowlock:host:pid:id".
std::string name_for_servers(const std::string& owner) {
  std::string out = owner.substr(0, owner.rfind(':'));
  out.at(out.find(':')) = ' ';
  return out;
}

driver::open_options guarded(driver::open_options with, bool may_relax) {
  with.is_guarded = true;
  with.may_relax = may_relax;
  return with;
}

constexpr auto time_to_explain = std::chrono::seconds{1};

// One is kept for renewing and releasing, if there is more than one.
pool::size pool_size(std::size_t most) { return {.most = most, .kept = most > 1 ? 1U : 0U}; }

}  // namespace

gateway::gateway(const driver::backend& kind, const core::url& address, const client_options& options,
                 const identity& who, telemetry& to)
    : options_{options},
      events_{to},
      kind_{kind},
      sheet_{kind.sheet(options.table_prefix, for_database(who))},
      database_{kind.open(address, for_database(who))},
      guard_{sheet_,
             [this, with = for_database(who)](bool may_relax) {
               return kind_.sheet(options_.table_prefix, guarded(with, may_relax));
             },
             to},
      has_spare_{database_->has_row_locks()},
      pool_{opening(&driver::database::connect),
            database_->server(),
            "connections",
            pool_size(std::min(options.connections, database_->most_sessions())),
            options.connect_timeout,
            [this] { events_.reconnected(); }},
      transactions_{
          opening(&driver::database::connect_to_hold), database_->server(),     "held_transactions",
          {.most = options.held_transactions},         options.connect_timeout, [this] { events_.reconnected(); }},
      combiner_{on_a_session(), lines()},
      share_combiner_{on_a_session(), {.lines = lines().lines, .by_name = true}},
      skipping_combiner_{on_a_session(), {.lines = lines().lines, .by_name = true, .of_all_names = true}},
      skipping_pays_from_{lines().few > 0 ? lines().few : std::numeric_limits<std::size_t>::max()} {}

combiner::on_session gateway::on_a_session() {
  return [this](const driver::limits& until, purpose what_for, const auto& use) { run(until, use, what_for); };
}

// Two on servers, so that one batch travels while the other is carried out; SQLite carries out one at a time. Up to
// four callers, and two prompt ones, are served sooner without waiting for each other, on both PostgreSQL and MariaDB.
combiner::line_options gateway::lines() const noexcept {
  if (!options_.combine) return {};
  if (!database_->has_row_locks()) return {.lines = 1, .mixes_verbs = true};
  const auto at_most = std::max<std::size_t>(options_.connections - 1, 1);
  return {.lines = std::min<std::size_t>(2, at_most), .few = std::min<std::size_t>(4, at_most)};
}

driver::open_options gateway::for_database(const identity& who) {
  return {.warning = [this](const std::string& sentence) { events_.warn(sentence); },
          .application_name = name_for_servers(who.owner()),
          .call_timeout = options_.call_timeout,
          .transaction_limit = options_.transaction_limit,
          .table_prefix = options_.table_prefix,
          .transaction_pooling = options_.transaction_pooling,
          .durable_release = options_.durable_release};
}

pool::open_session gateway::opening(connecting how) {
  return [this, how](const driver::limits& until) { return open(how, until); };
}

std::unique_ptr<driver::session> gateway::open(connecting how, const driver::limits& until) {
  auto out = [&] {
    const driver::timed scope{&events_.calls(), driver::chore::connecting};
    return (*database_.*how)(until);
  }();
  out->time_by(&events_.calls());
  return out;
}

// The connection has the shorter limit, so that it can say what was wrong.
void gateway::connect() {
  static_cast<void>(pool_.borrow({.deadline = base::later(base::now(), options_.connect_timeout + time_to_explain)}));
}

std::unique_ptr<driver::session> gateway::open_session(const driver::limits& until) {
  return open(&driver::database::connect, until);
}

std::unique_ptr<pool::loan> gateway::lend_transaction(const driver::limits& until) try {
  return transactions_.lend(until);
} catch (const error& e) {
  events_.failed(e);
  throw;
}

void gateway::require_fit_schema(const store::access& db) {
  if (schema_fits_) return;
  store::require_fit_schema(db, schema());
  schema_fits_ = true;
}

void gateway::look_at_guard(const driver::limits& until) {
  if (!guard_.is_fresh()) run(until, [](const store::access&) {});
}

// The first call of a client, and one after a pause, look first: the lease must be refused before it is written.
void gateway::require_short(duration lease, const char* what, const driver::limits& until) {
  look_at_guard(until);
  guard_.require_short(lease, what);
}

// Without a lease it is held for as long as the server leaves its transaction open.
std::optional<duration> gateway::quarantine_for(const lock_options& options) const {
  const bool has_lease = options.strategy != strategy::for_update;
  guard_.require_short(has_lease ? options.lease : options_.transaction_limit,
                       has_lease ? "a lease" : "a transaction_limit");
  guard_.require_short(options.at_least, "an at_least");
  return guard_.quarantine_left();
}

void gateway::doubt_schema(const error& missing, const driver::limits& until) {
  forget_schema();
  run(until, [](const store::access&) {});
  throw detail::error_access::make(errc::connection_failed, missing.what(),
                                   {.retryable = true, .connection_unusable = true});
}

bool gateway::end_lost_sessions(const driver::limits& until) noexcept try {
  run(
      until, [&](const store::access& db) { database_->end_lost_sessions(db.session, until); }, purpose::releasing);
  return true;
} catch (const std::exception&) {  // then they end by the server's own limits
  return false;
}

// --- calls and closing -----------------------------------------------------------------------------------------------

void gateway::check_usable() const {
  if (is_foreign())
    throw error{errc::used_after_fork,
                "this rowlock client belongs to the parent process; connect a new one in the child"};
  if (is_closed_) throw error{errc::client_closed, "this rowlock client is closed; connect a new one"};
}

in_flight_calls& gateway::calls_if_usable() {
  check_usable();
  return calls_;
}

driver::limits gateway::call_limits(const std::stop_token& stop) const {
  return {.deadline = base::later(base::now(), options_.call_timeout), .stop = stop};
}

driver::limits gateway::limits_of_wait(base::instant deadline, const std::stop_token& stop) {
  driver::limits until = call_limits(stop);
  const auto least = base::later(std::min(base::now(), deadline), database().least_call());
  until.deadline = std::min(until.deadline, std::max(deadline, least));
  return until;
}

driver::limits gateway::leaving_a_tenth(driver::limits until) {
  until.deadline -= std::max<duration>(until.deadline - base::now(), duration::zero()) / 10;
  return until;
}

void gateway::pause_until(base::instant t, const std::stop_token& stop) {
  auto is_closing = is_closing_.lock();
  base::wait_until(closing_, is_closing.lock(), t, stop, [&] { return *is_closing; });
}

bool gateway::begin_close() noexcept {
  if (is_foreign() || is_closed_.exchange(true)) return false;
  *is_closing_.lock() = true;
  closing_.notify_all();
  return true;
}

void gateway::close(const driver::limits& until) noexcept {
  end_batches();
  if (!database_->has_row_locks()) retire(until);
  database_->abandon();
  transactions_.close();
  pool_.close();
}

void gateway::retire(const driver::limits& until) noexcept try {
  auto loan = pool_.borrow(until, purpose::releasing);
  database_->retire(sheet_, *loan, until);
} catch (const std::exception&) {  // another client will tidy up
}

}  // namespace rowlock::inline v1::engine
