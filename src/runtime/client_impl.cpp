#include "runtime/client_impl.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "core/checks.hpp"
#include "core/error_detail.hpp"
#include "core/url.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/exit_list.hpp"
#include "strategy/inspection.hpp"

namespace rowlock::inline v1::detail {

namespace {

client_options checked(client_options options) {
  core::check(options);
  return options;
}

// "rowlock host:pid", of an owner "rowlock:host:pid:id".
std::string name_for_servers(const std::string& owner) {
  std::string out = owner.substr(0, owner.rfind(':'));
  out.at(out.find(':')) = ' ';
  return out;
}

// One is there for what keeps and ends locks, where there is more than one.
runtime::pool::size pool_size(std::size_t most) { return {.most = most, .kept = most > 1 ? 1U : 0U}; }

constexpr auto last_moment = std::chrono::milliseconds{100};

// In a child of a fork it is left alone for good: its threads are not there to be joined, its mutexes may be held by
// nobody, and closing an SQLite connection that was carried over harms the file's locks.
void destroy(client_impl* impl) noexcept {
  if (!impl->is_foreign()) delete impl;  // NOLINT(cppcoreguidelines-owning-memory): a shared_ptr's deleter
}

}  // namespace

std::shared_ptr<client_impl> client_impl::open(std::string_view url, client_options options) try {
  std::shared_ptr<client_impl> client{new client_impl{url, checked(std::move(options))}, destroy};
  if (client->database_->needs_static_objects()) runtime::close_at_exit(client, client->backend_);
  return client;
} catch (const error&) {
  throw;
} catch (const std::system_error& e) {  // no descriptor or no thread was left
  throw error_access::make(errc::connection_failed, std::string{"a client cannot be made: "} + e.what(),
                           {.retryable = true, .connection_unusable = true});
}

client_impl::client_impl(std::string_view url, client_options options)
    : options_{std::move(options)},
      owner_{runtime::owner_id(options_.application, id_)},
      reporter_{options_.observer, options_.call_timeout},
      backend_{driver::backend_for(core::cut_url(url).scheme)},
      sql_{backend_.dialect(options_.table_prefix, for_database())},
      database_{backend_.open(core::cut_url(url), for_database())},
      pool_{[this](const driver::limits& until) { return timed(&driver::database::connect, until); }, "connections",
            pool_size(std::min(options_.connections, database_->most_sessions())), options_.connect_timeout,
            [this] { reconnected(); }},
      transactions_{[this](const driver::limits& until) { return timed(&driver::database::connect_to_hold, until); },
                    "held_transactions",
                    {.most = options_.held_transactions},
                    options_.connect_timeout,
                    [this] { reconnected(); }},
      sources_{sources_of_hints()},
      watchdog_{holdings_,
                {.telling = [this](const acquisition& a) { return telling_of_loss(a); },
                 .lost = [this](const std::shared_ptr<acquisition>& a) { after_loss(*a); }}},
      keeper_{holdings_, undo_, keepers_hands(), options_.call_timeout},
      attendant_{attendants_hands()} {
  (void)pool_.borrow({.deadline = core::later(driver::now(), options_.connect_timeout)});
  watchdog_.start();
  keeper_.start();
}

client_impl::~client_impl() { close(); }

driver::open_options client_impl::for_database() {
  return {.warning = [this](const std::string& sentence) { reporter_.add({events::warning{sentence}}); },
          .application_name = name_for_servers(owner_),
          .call_timeout = options_.call_timeout,
          .transaction_limit = options_.transaction_limit,
          .table_prefix = options_.table_prefix,
          .transaction_pooling = options_.transaction_pooling,
          .durable_release = options_.durable_release};
}

runtime::keeper::hands client_impl::keepers_hands() {
  return {.renew =
              [this](std::span<const strategies::held> some, const driver::limits& until) {
                return on_session(
                    until, [&](driver::session& on) { return unique_index_.renew(on, some, until); },
                    runtime::purpose::keeping);
              },
          .undo = [this](std::vector<runtime::undo_list::entry> entries,
                         const driver::limits& until) { release_undone(std::move(entries), until); },
          .lost = [this](const std::shared_ptr<acquisition>& a, loss_reason why) { lost(a, why); },
          .next_errand = [this] { return next_errand(); },
          .errands = [this](const driver::limits& until) { run_errands(until); },
          .renewed = [this](const acquisition& a) { renewed(a); },
          .renewal_failed = [this](const acquisition& a, const error& why) { renewal_failed(a, why); }};
}

runtime::attendant::hands client_impl::attendants_hands() {
  return {.beat = [this](driver::session& on, const driver::limits& until) { for_update_.beat(on, until); },
          .lost = [this](const std::shared_ptr<acquisition>& a, loss_reason why) { lost(a, why); },
          .was_cut = [this](const std::stop_token& stop) { end_lost_sessions(call_limits(stop)); },
          .renewed = [this](const acquisition& a) { renewed(a); },
          .failed = [this](const error& e) { failed(e); }};
}

void client_impl::require_fit_schema(driver::session& on, const driver::limits& until) {
  if (schema_fits_) return;
  runtime::require_fit_schema(sql_, on, until);
  schema_fits_ = true;
}

void client_impl::end_lost_sessions(const driver::limits& until) noexcept try {
  on_session(
      until, [&](driver::session& on) { database_->end_lost_sessions(on, until); }, runtime::purpose::letting_go);
} catch (const std::exception&) {  // then they end by the server's own limits
}

void client_impl::check_usable() const {
  if (is_foreign()) throw error{errc::used_after_fork, "this rowlock client belongs to the parent process"};
  if (is_closed_) throw error{errc::client_closed, "this rowlock client was closed"};
}

runtime::traffic& client_impl::calls_if_usable() {
  check_usable();
  return calls_;
}

driver::limits client_impl::call_limits(const std::stop_token& stop) const {
  return {.deadline = core::later(driver::now(), options_.call_timeout), .stop = stop};
}

std::vector<lock_info> client_impl::list(std::string_view prefix) {
  check_usable();
  const auto until = call_limits();
  std::vector<std::string> odd;
  auto out = on_session(until, [&](driver::session& on) { return strategies::list(sql_, on, prefix, until, odd); });
  report_odd(odd);
  return out;
}

std::optional<lock_info> client_impl::find(const lock_name& name) {
  check_usable();
  const auto until = call_limits();
  return on_session(until, [&](driver::session& on) { return strategies::find(sql_, on, name.view(), until); });
}

std::vector<waiter_info> client_impl::waiters(const lock_name& name) {
  check_usable();
  const auto until = call_limits();
  return on_session(until, [&](driver::session& on) { return strategies::waiters(sql_, on, name.view(), until); });
}

void client_impl::check() {
  check_usable();
  schema_fits_ = false;
  const auto until = call_limits();
  on_session(until, [&](driver::session& on) {
    const driver::request nothing{};
    runtime::require_sane_clock(sql_, on, until);
    on.run(sql_[dialect::verb::probe], {&nothing, 1}, until);
  });
}

void client_impl::migrate() {
  check_usable();
  const auto until = call_limits();
  on_any_schema(until, [&](driver::session& on) {
    runtime::migrate(sql_, backend_.migrations(), options_.table_prefix, on, until);
  });
}

rowlock::schema_status client_impl::schema_status() {
  check_usable();
  const auto until = call_limits();
  return on_any_schema(until, [&](driver::session& on) {
    return runtime::read_status(sql_, backend_.migrations(), options_.table_prefix, on, until);
  });
}

void client_impl::release_all() noexcept {
  if (is_foreign() || is_closed_) return;
  const auto until = call_limits();
  release_undone(give_up(holdings_.all(), loss_reason::forced, until), until);
}

void client_impl::close() noexcept {
  if (is_foreign() || is_closed_.exchange(true)) return;
  const auto until = call_limits();
  line_.close();
  auto undone = give_up(holdings_.close(), loss_reason::client_closed, until);
  attendant_.stop();
  calls_.wait_for_the_last(until.deadline);
  watchdog_.stop();
  keeper_.stop();
  for (const auto& each : sources_) each->stop();
  for (auto& e : undo_.take_permitted(driver::now())) undone.push_back(std::move(e));
  release_undone(std::move(undone), until);
  leave_all(departures_.take_due(core::instant::max()), until);
  if (!database_->has_row_locks()) retire(until);
  database_->abandon();
  transactions_.close();
  pool_.close();
  watchdog_.end_callbacks(until.deadline);
  // What has just been reported is worth a moment, even where all the time is over.
  reporter_.close(std::max(until.deadline, core::later(driver::now(), last_moment)));
}

// First nobody believes in them any more, then the rows are let go: never the other way round. A callback that does not
// return may not take all the time: others' rows are among them.
std::vector<runtime::undo_list::entry> client_impl::give_up(const std::vector<std::shared_ptr<acquisition>>& all,
                                                            loss_reason why, const driver::limits& until) {
  std::vector<std::shared_ptr<acquisition>> gone;
  for (const auto& a : all)
    if (a->lose(why)) gone.push_back(a);
  watchdog_.fire_and_wait(gone, leaving_a_tenth(until).deadline);
  std::vector<runtime::undo_list::entry> undone;
  undone.reserve(gone.size());
  for (const auto& a : gone) {
    if (a->transaction) {
      end_transaction(*a, until);
    } else {
      undone.push_back(to_undo(*a));
    }
  }
  return undone;
}

void client_impl::retire(const driver::limits& until) noexcept try {
  auto loan = pool_.borrow(until, runtime::purpose::letting_go);
  database_->retire(sql_, *loan, until);
} catch (const std::exception&) {  // somebody else will tidy up
}

}  // namespace rowlock::inline v1::detail
