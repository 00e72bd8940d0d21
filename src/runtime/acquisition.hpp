#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/options.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "core/lease.hpp"
#include "core/time.hpp"
#include "runtime/counters.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/held_transaction.hpp"

namespace rowlock::inline v1::detail {

class client_impl;

/// One lock that was granted, from then until it is let go or lost.
///
///   held --let_go()--> released
///   held --lose(why)-> lost        whichever comes first is final
///
/// The local deadline moves only while it is held, and only before it has passed: whoever first finds that it has
/// passed marks the lock as lost, so that no late answer takes back what somebody was told (law 5). Changes of state
/// and deadline exclude each other; both can be read at any time. `claim` lets one renewal or extend be under way at a
/// time, so that answers cannot overtake each other.
class acquisition {
 public:
  acquisition(std::shared_ptr<client_impl> of, lock_name what, holder whose, std::string unique_id,
              const lock_options& options);
  /// Without a lease. A transaction that says nothing for `limit` is ended by the server.
  acquisition(std::shared_ptr<client_impl> of, lock_name what, holder whose, std::string unique_id,
              const lock_options& options, duration limit, std::unique_ptr<runtime::held_transaction> in);

  const std::shared_ptr<client_impl> client;
  const lock_name name;
  const holder by;
  const std::string id;
  const rowlock::strategy strategy;
  const bool renews;
  const bool has_lease;  // else it lasts as long as its transaction, or its client
  const duration at_least;
  // Set once, before anybody else sees this object:
  runtime::counters* counts = nullptr;  // nullptr: it is the client's own, and is not told of either
  core::instant asked_at{};             // by the request that was granted
  fencing_token token{};
  core::instant hold_limit = core::instant::max();               // of believing in it
  core::instant stays_until = core::instant::min();              // let go of before that, it is to linger
  const std::unique_ptr<runtime::held_transaction> transaction;  // what it says is for whoever has claimed this

  bool is_foreign() const noexcept { return generation_ != runtime::process_generation(); }

  /// As marked so far, whatever the clock says.
  bool is_held() const noexcept { return status_.load() == held; }
  /// Whether it is to be believed in. Marks it as lost where its deadline has passed.
  bool is_held_at(core::instant now) noexcept;
  loss_reason why_lost() const noexcept;
  /// false: it was lost, or let go of before. What is overdue is lost and cannot be let go of.
  bool let_go(core::instant now) noexcept;
  /// true: the caller fires lost().
  bool lose(loss_reason why) noexcept;
  /// Of what was marked by the clock: true once, and the caller fires lost(). The watchdog comes to it by itself while
  /// it is listed, since its deadline has passed.
  bool take_unfired() noexcept { return is_unfired_.exchange(false); }
  /// Since it was asked for, until it was let go or lost: of one that is held no more.
  duration was_held_for() const noexcept { return was_held_for_; }

  duration lease() const noexcept { return duration{lease_.load(std::memory_order_relaxed)}; }
  core::instant deadline() const noexcept { return at(deadline_); }
  /// It may stand in the database for so long after nobody believes in it any more.
  duration outlives_by() const noexcept { return has_lease ? lease() : duration::max(); }
  /// When its lease is over in the database too, as far as answers have come.
  core::instant over() const noexcept { return at(over_); }
  core::instant renewal_due() const noexcept { return at(due_); }
  void set_lease(duration lease) noexcept { lease_.store(lease.count(), std::memory_order_relaxed); }
  /// Of one that nobody else has seen yet. Not beyond the limit.
  void set_deadline(core::instant t) noexcept { set(deadline_, std::min(t, hold_limit)); }
  /// Never later than it is.
  void shorten_deadline(core::instant t) noexcept;
  /// The answer to the request that was granted, which was sent at `sent`: so much is left of the lease.
  void set_first_left(core::instant sent, duration left, core::instant now) noexcept;
  /// The same of a renewal or extend. false: it is not believed, since the lock is lost, now at the latest.
  bool set_left(core::instant sent, duration left, core::instant now) noexcept;
  void set_renewal_due(core::instant t) noexcept { set(due_, t); }
  /// Not one whose lease covers all the time for which it may be held.
  bool wants_renewal() const noexcept { return renews && is_held() && !is_limited_now(); }

  /// Whether the last renewal failed for want of an answer.
  std::atomic<bool> is_unreachable{false};
  /// Why it is lost if its deadline passes now.
  loss_reason why_overdue() const noexcept {
    if (is_limited_now()) return loss_reason::hold_limit;
    return is_unreachable ? loss_reason::unreachable : loss_reason::expired;
  }

  /// Why it is lost, by what the row said. Nobody takes over what has not run out: if somebody has it before that, it
  /// was freed in between.
  loss_reason why_gone(loss_reason found, core::instant now) const noexcept {
    const bool runs_out = has_lease && now >= deadline();
    return found == loss_reason::taken_over && !runs_out ? loss_reason::forced : found;
  }

  /// A transaction of that session of the server's has confirmed it, and has it pinned.
  void was_confirmed_by(std::int64_t session) noexcept;
  /// 0: none; less: several.
  std::int64_t confirmed_by() const noexcept { return confirmed_by_; }

  /// In one order with letting go: whoever claims it and finds it held after that is seen by whoever lets it go.
  bool claim() noexcept { return !claimed_.exchange(true); }
  /// Once it was let go, and lingers: whether something that was sent before may prolong it yet.
  bool may_be_prolonged() const noexcept { return at_least > duration::zero() && (claimed_.load() || is_unreachable); }
  void claim_or_wait() noexcept;
  /// Until none is under way.
  void wait_for_claimant() const noexcept { claimed_.wait(true, std::memory_order_acquire); }
  void unclaim() noexcept;

  /// Fires when it is lost. Whoever finds it held after that is seen by whoever fires (is_watched).
  std::stop_token lost_token() noexcept {
    is_watched_ = true;
    return lost_.get_token();
  }
  /// Once it was lost: whether anybody may have registered callbacks.
  bool is_watched() const noexcept { return is_watched_; }
  std::stop_source lost_source() const noexcept { return lost_; }

  // Of `holdings`, under its mutex.
  std::size_t slot = 0;
  std::size_t handles = 1;
  bool is_listed = false;
  std::string reentrancy_key{};

 private:
  enum status : std::uint8_t { held, released, lost };  // lost + reason

  using atomic_time = std::atomic<core::instant::rep>;
  static core::instant at(const atomic_time& t) noexcept {
    return core::instant{duration{t.load(std::memory_order_acquire)}};
  }
  static void set(atomic_time& to, core::instant t) noexcept {
    to.store(t.time_since_epoch().count(), std::memory_order_release);
  }
  bool mark_lost(loss_reason why) noexcept;  // under changing_, as the next two
  template <class Count>
  bool leave_held(std::uint8_t to, Count count) noexcept;
  bool is_overdue(core::instant now) const noexcept { return is_held() && deadline() <= now; }

  bool is_limited_now() const noexcept { return hold_limit != core::instant::max() && deadline() >= hold_limit; }
  /// Until it is let go: neither the server nor time ends it.
  bool lasts() const noexcept { return !has_lease && !transaction; }

  const std::uint64_t generation_ = runtime::process_generation();
  std::mutex changing_;  // of status_, deadline_ and over_
  std::atomic<std::uint8_t> status_{held};
  std::atomic<bool> is_unfired_{false};
  std::atomic<bool> is_watched_{false};
  duration was_held_for_{};
  std::atomic<duration::rep> lease_;
  atomic_time deadline_{0};
  atomic_time over_{0};
  atomic_time due_{0};
  std::atomic<bool> claimed_{false};
  std::atomic<std::int64_t> confirmed_by_{0};
  std::stop_source lost_;
};

}  // namespace rowlock::inline v1::detail
