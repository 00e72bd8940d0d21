#pragma once

#include <rowlock/diagnosis.hpp>
#include <rowlock/error.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/options.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/transaction.hpp>
#include <rowlock/waiter_info.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "dialect/dialect.hpp"
#include "driver/backend.hpp"
#include "driver/boot_clock.hpp"
#include "driver/call_times.hpp"
#include "runtime/attendant.hpp"
#include "runtime/counters.hpp"
#include "runtime/hint_source.hpp"
#include "runtime/holdings.hpp"
#include "runtime/ids.hpp"
#include "runtime/keeper.hpp"
#include "runtime/late_tickets.hpp"
#include "runtime/patience.hpp"
#include "runtime/pool.hpp"
#include "runtime/reporter.hpp"
#include "runtime/schema.hpp"
#include "runtime/traffic.hpp"
#include "runtime/undo_list.hpp"
#include "runtime/waiting_line.hpp"
#include "runtime/watchdog.hpp"
#include "strategy/for_update.hpp"
#include "strategy/forcing.hpp"
#include "strategy/liveness_rows.hpp"
#include "strategy/queue.hpp"
#include "strategy/unique_index.hpp"
#include "strategy/version_cas.hpp"

namespace rowlock::inline v1::detail {

/// What a client, its mutexes and its locks share. It lives as long as any of them; close() takes what makes it work.
///
///   open --close()--> closed: nothing can be acquired, everything held is lost (client_closed)
///   in a child of a fork: foreign: calls throw, destructors do nothing
class client_impl : public std::enable_shared_from_this<client_impl> {
 public:
  static std::shared_ptr<client_impl> open(std::string_view url, client_options options);
  client_impl(std::string_view url, client_options options);
  client_impl(const client_impl&) = delete;
  client_impl& operator=(const client_impl&) = delete;
  ~client_impl();

  /// nullopt: busy until then, or stopped. A wait of zero or less tries once. Without `by` the holder is a fresh one.
  std::optional<held_lock> acquire(const lock_name& name, const lock_options& options, const std::optional<holder>& by,
                                   duration wait, const std::stop_token& stop);
  /// The same, once, for the client itself: nobody is told of it, and it is not counted.
  std::optional<held_lock> try_acquire_for_itself(const lock_name& name, const lock_options& options,
                                                  const std::stop_token& stop);
  /// Of one handle. Throws as held_lock does.
  void release(const std::shared_ptr<acquisition>& a);
  void extend(const std::shared_ptr<acquisition>& a, duration lease);
  void release_all() noexcept;
  bool force_release(const lock_name& name, std::optional<fencing_token> only);

  /// In a transaction of the caller's. Without `wait`: as long as it takes. nullopt: busy.
  std::optional<transaction_lock> lock_in(caller_transaction& tx, const lock_name& name, std::optional<duration> wait,
                                          const lock_in_options& options);
  void confirm(caller_transaction& tx, const std::shared_ptr<acquisition>& a);
  /// The version of a name that nobody has; nullopt: somebody has it.
  std::optional<std::int64_t> see(caller_transaction& tx, const lock_name& name);
  /// false: somebody has had it since it was seen with that version.
  bool set(caller_transaction& tx, const lock_name& name, std::int64_t version);
  void refuse_own(const lock_name& name, const holder& by);

  std::vector<lock_info> list(std::string_view prefix);
  std::optional<lock_info> find(const lock_name& name);
  std::vector<waiter_info> waiters(const lock_name& name);
  void check();
  std::vector<finding> diagnose();
  database_statistics database_stats();
  void migrate();
  rowlock::schema_status schema_status();
  client_statistics stats();

  /// One step of a sweep: `use(sql, session, limits)`. How long it took goes to `took`.
  template <class Use>
  auto keep_house(const std::stop_token& stop, duration& took, Use use);
  /// Lets go without waiting for the database. Of one that is not to be held any more, whatever becomes of its handle.
  void release_soon(const std::shared_ptr<acquisition>& a) noexcept;
  const client_options& options() const noexcept { return options_; }

  void close() noexcept;

  void report(event e) noexcept;
  /// Of rows that were written by hand, and passed over.
  void report_odd(const std::vector<std::string>& names) noexcept;
  void swept(std::uint64_t rows, std::uint64_t tickets) noexcept;
  void has_swept(const events::swept& e) noexcept;
  /// Throws client_closed, used_after_fork.
  void check_usable() const;
  bool is_foreign() const noexcept { return generation_ != runtime::process_generation(); }

 private:
  struct wish;
  struct tried;
  struct got;
  class diagnosing;

  /// A call that close() waits for; no call begins once it is closed.
  class entered {
   public:
    explicit entered(client_impl& in) : call_{in.calls_if_usable()} { in.check_usable(); }

   private:
    const runtime::traffic::call call_;
  };
  runtime::traffic& calls_if_usable();
  driver::limits call_limits(const std::stop_token& stop = {}) const;
  static driver::limits leaving_a_tenth(driver::limits until);
  template <class Use>
  auto on_any_schema(const driver::limits& until, Use use, runtime::purpose what_for = runtime::purpose::usual);
  template <class Use>
  auto on_session(const driver::limits& until, Use use, runtime::purpose what_for = runtime::purpose::usual);
  void require_fit_schema(driver::session& on, const driver::limits& until);
  void end_lost_sessions(const driver::limits& until) noexcept;

  std::optional<held_lock> get(const wish& what, duration wait, const std::stop_token& stop);
  std::optional<held_lock> again(const wish& what);
  std::optional<held_lock> try_only_once(const wish& what, const std::stop_token& stop);
  std::optional<held_lock> wait_for(wish what, core::instant deadline, const std::stop_token& stop);
  std::optional<held_lock> wait_in_line(wish what, runtime::patience& so_far, const std::stop_token& stop);
  std::optional<held_lock> try_while_waiting(const wish& what, runtime::patience& so_far, const std::stop_token& stop);
  bool was_hurried(const runtime::patience& so_far) const noexcept;
  driver::limits limits_while_waiting(const runtime::patience& so_far, const std::stop_token& stop) const;
  static void ride_out(const error& e, bool has_transactions, runtime::patience& so_far, const std::stop_token& stop);
  tried try_once(const wish& what, const driver::limits& until);
  got get(const wish& what, const std::string& id, const driver::limits& until);
  std::unique_ptr<runtime::pool::loan> lend_transaction(const driver::limits& until);
  got hold(const wish& what, const std::string& id, const driver::limits& until);
  strategies::answer ask(const wish& what, const std::string& id, const driver::limits& until);
  strategies::attempt attempt_of(const wish& what, const std::string& id) const;
  const strategies::algorithm& algorithm_of(rowlock::strategy s) const noexcept;
  bool holds_by_transaction(rowlock::strategy s) const noexcept;
  std::optional<strategies::answer> adopt(const wish& what, const std::string& id,
                                          const driver::limits& until) noexcept;
  std::optional<held_lock> keep(const wish& what, const std::string& id, got granted);
  std::shared_ptr<acquisition> acquisition_of(const wish& what, const std::string& id, got granted);

  class queued;
  void take_ticket(const wish& what, runtime::patience& so_far, const std::stop_token& stop);
  std::optional<strategies::answer> refused_by_queue(const wish& what, driver::session& on,
                                                     const driver::limits& until);
  void leave_queue(const wish& what, driver::session& on, const driver::limits& until) noexcept;
  void leave_queue_on_another(const wish& what, const driver::limits& until) noexcept;
  void leave_later(const lock_name& name, std::string attempt, std::int64_t number);
  void leave_all(std::vector<runtime::undo_list::entry> tickets, const driver::limits& until);
  void leave_behind_no_ticket(const lock_name& name, duration wait, const std::stop_token& stop);
  void withdraw_all(const std::vector<runtime::undo_list::entry>& some, const driver::limits& until) noexcept;
  std::vector<bool> leave_at_once(const std::vector<runtime::undo_list::entry>& some, const driver::limits& until);
  void keep_tickets(const driver::limits& until);
  void was_released(const lock_name& name, std::uint64_t leaves_before);
  bool hint_those_who_may_go(driver::session& on, const std::vector<runtime::queue_ticket>& some,
                             const driver::limits& until);
  bool is_told() const noexcept;
  core::instant next_errand();
  void run_errands(const driver::limits& until) noexcept;
  runtime::subscription::sources sources_of_hints();
  std::unique_ptr<runtime::hint_source> watching_commits();
  std::unique_ptr<runtime::hint_source> listening_and(runtime::hint_source& meanwhile);
  std::unique_ptr<runtime::hint_source> asking();
  void pass_on(const lock_name& name);

  struct cleared;
  struct joining;
  cleared make_way(const lock_name& name);
  std::optional<cleared> look_for_way(const lock_name& name, driver::session& on, const driver::limits& until);
  bool is_locked_by(const lock_name& name, std::int64_t session);
  bool is_pinned_by(const lock_name& name, std::int64_t sign);
  bool may_ask_for_released(driver::guest& in, const lock_name& name, const cleared& way, driver::wish_in& how,
                            joining& so_far);
  std::optional<transaction_lock> try_lock_in(driver::guest& in, const lock_name& name, const lock_in_options& options,
                                              joining& so_far);
  std::string home();
  void settle_home(const std::string& supposed);
  strategies::renewal standing_of(const acquisition& a);
  void require_held(acquisition& a) const;

  std::optional<strategies::possession> look_for_possession(const lock_name& name, const driver::limits& until);
  bool free_lease(const lock_name& name, const strategies::possession& what, const driver::limits& until);
  void end_keeper(const lock_name& name, const strategies::possession& what, const driver::limits& until);
  void lose_freed(const std::string& id, const driver::limits& until);

  bool try_extend(const std::shared_ptr<acquisition>& a, duration lease, const driver::limits& until);
  void let_go(acquisition& a);
  void release_row(const acquisition& a);
  void release_transaction(acquisition& a);
  void end_transaction(acquisition& a, const driver::limits& until) noexcept;
  void commit_transaction(acquisition& a, const driver::limits& until);
  strategies::letting_go try_release(const acquisition& a, const driver::limits& until);
  void lost(const std::shared_ptr<acquisition>& a, loss_reason why);
  void after_loss(acquisition& a);
  std::function<void()> telling_of_loss(const acquisition& a);
  runtime::undo_list::entry to_undo(const lock_name& name, const std::string& id, duration lease,
                                    core::instant from) const;
  runtime::undo_list::entry to_undo(const acquisition& a) const;
  void undo_later(runtime::undo_list::entry e);
  std::vector<runtime::undo_list::entry> give_up(const std::vector<std::shared_ptr<acquisition>>& all, loss_reason why,
                                                 const driver::limits& until);
  void release_undone(std::vector<runtime::undo_list::entry> entries, const driver::limits& until);
  using way_out = std::vector<strategies::letting_go> (strategies::algorithm::*)(driver::session&,
                                                                                 std::span<const strategies::held>,
                                                                                 const driver::limits&) const;
  void undo_by(way_out how, std::vector<runtime::undo_list::entry> entries, const driver::limits& until);
  void settle(runtime::undo_list::entry e, strategies::letting_go outcome);
  runtime::keeper::hands keepers_hands();
  runtime::attendant::hands attendants_hands();
  void retire(const driver::limits& until) noexcept;
  driver::open_options for_database();
  std::unique_ptr<driver::session> timed(
      std::unique_ptr<driver::session> (driver::database::*connect)(const driver::limits&),
      const driver::limits& until);

  void failed(const error& e) noexcept;
  void renewed(const acquisition& a) noexcept;
  void renewal_failed(const acquisition& a, const error& why) noexcept;
  void polling(const error& why) noexcept;
  void reconnected() noexcept;

  const std::uint64_t generation_ = runtime::process_generation();
  const client_options options_;
  const std::string id_ = runtime::random_id();
  const std::string owner_;
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> schema_fits_{false};  // read once, and again after its tables were found missing

  // Rooms below, from the database to the threads, which must be the first to go.
  runtime::traffic calls_;
  runtime::counters counters_;
  driver::call_times times_;
  runtime::reporter reporter_;
  const driver::backend& backend_;
  const dialect::table sql_;
  std::unique_ptr<driver::database> database_;
  runtime::pool pool_;
  runtime::pool transactions_;
  const strategies::unique_index unique_index_{sql_};
  const strategies::version_cas version_cas_{sql_};
  const strategies::liveness_rows liveness_rows_{sql_};
  const strategies::for_update for_update_{sql_};
  runtime::attempt_ids ids_{id_};
  runtime::holdings holdings_;
  runtime::undo_list undo_;
  runtime::guarded<std::string> home_;  // empty: not asked for yet
  runtime::waiting_line line_;
  runtime::undo_list departures_;  // tickets that are to go
  runtime::late_tickets late_;     // the same, until the database has them no more
  std::atomic<bool> is_listening_{false};
  std::atomic<std::uint64_t> releases_{0};  // whose statements have ended
  std::atomic<std::uint64_t> leaves_{0};
  runtime::subscription::sources sources_;
  runtime::watchdog watchdog_;
  runtime::keeper keeper_;
  runtime::attendant attendant_;
};

/// Runs `use(session)` on a session, whatever its schema is.
template <class Use>
auto client_impl::on_any_schema(const driver::limits& until, Use use, runtime::purpose what_for) try {
  auto loan = pool_.borrow(until, what_for);
  try {
    return use(*loan);
  } catch (const error& e) {
    if (e.connection_is_unusable()) loan.lose();
    if (e.code() == errc::schema_missing) schema_fits_ = false;
    throw;
  }
} catch (const error& e) {
  failed(e);
  throw;
}

/// The same where its schema fits this library.
template <class Use>
auto client_impl::on_session(const driver::limits& until, Use use, runtime::purpose what_for) {
  return on_any_schema(
      until,
      [&](driver::session& on) {
        require_fit_schema(on, until);
        return use(on);
      },
      what_for);
}

template <class Use>
auto client_impl::keep_house(const std::stop_token& stop, duration& took, Use use) {
  const entered under_way{*this};
  const auto until = call_limits(stop);
  return on_session(until, [&](driver::session& on) {
    const core::instant began = driver::now();
    auto answer = use(sql_, on, until);
    took = driver::now() - began;
    return answer;
  });
}

}  // namespace rowlock::inline v1::detail
