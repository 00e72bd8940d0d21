#pragma once

#include <rowlock/error.hpp>
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
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "base/time.hpp"
#include "core/identity.hpp"
#include "core/lease.hpp"
#include "core/sharing.hpp"
#include "engine/events/telemetry.hpp"
#include "engine/flow/flow.hpp"
#include "engine/gateway/pool.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// The session whose open transaction holds a lock. Used by the thread that has claimed the lock.
///
///   open --end()--> over: its connection was closed, and so the server releases the row
///        --give_back()--> over: the transaction was ended before
class held_transaction {
 public:
  /// `is_waited_for`: when it began. The row is locked since then, so waiters that come later cannot mark it, and poll.
  held_transaction(std::unique_ptr<pool::loan> on, bool is_waited_for)
      : loan_{std::move(on)}, descriptor_{session().descriptor()}, is_waited_for_{is_waited_for} {}
  held_transaction(const held_transaction&) = delete;
  held_transaction& operator=(const held_transaction&) = delete;
  ~held_transaction();

  bool is_over() const noexcept { return loan_ == nullptr; }
  bool is_waited_for() const noexcept { return is_waited_for_; }
  driver::session& session() const noexcept { return **loan_; }
  void end() noexcept;
  /// Ended by cutting a heartbeat when no holder relied on the lock any more, which has the effect of a release.
  bool was_cut_short() const noexcept { return was_cut_short_; }
  void give_back() noexcept { loan_.reset(); }

  /// By any thread: no holder relies on the lock any more, so a heartbeat that is under way is cut.
  void cancel_heartbeat() noexcept { heartbeat_cancellation_.request_stop(); }
  std::stop_token heartbeat_cancellation() const noexcept { return heartbeat_cancellation_.get_token(); }

  /// For poll(2); by any thread. Valid only while the transaction is open.
  int descriptor() const noexcept { return descriptor_; }

 private:
  const base::fork_guard process_;
  std::unique_ptr<pool::loan> loan_;
  const int descriptor_;
  const bool is_waited_for_;
  std::stop_source heartbeat_cancellation_;
  bool was_cut_short_ = false;
};

/// The part of a lease that was handed over, or may be.
struct handed_tenure {
  holder by;            ///< the present holder; the row shows the first of the acquisition
  core::tenure plan{};  ///< once it was handed over
};

/// One lock, from its grant until it is released or lost.
///
///   held --release()-> released
///   held --lose(why)-> lost        the first of the two is final
///
/// The local deadline moves only while the lock is held, and only before it has passed: the first thread that finds
/// that it has passed marks the lock as lost, so that no late answer takes back a reported loss (law 5). Changes of
/// state and deadline exclude each other; both can be read at any time. A claim lets one renewal or extend be under way
/// at a time, so that answers cannot overtake each other.
class lease_state {
 public:
  /// `reentered_by`: the holder that may reenter it.
  lease_state(lock_name what, std::optional<holder> reentered_by, const core::acquisition_id& unique_id,
              const lock_options& options);
  /// Without a lease: held by a transaction, which the server ends if it is silent for `limit`, or, without a
  /// transaction, during the life of the client.
  lease_state(lock_name what, std::optional<holder> reentered_by, const core::acquisition_id& unique_id,
              const lock_options& options, duration limit, std::unique_ptr<held_transaction> in);
  /// With a lease, of an acquisition that is handed over to it: see continue_from.
  lease_state(lock_name what, std::optional<holder> reentered_by, const holder& whose, const lock_options& options);

  const lock_name name;
  const std::optional<holder> by;  // absent: not reentrant
  core::acquisition_id id;         // set before another thread sees this object
  const rowlock::strategy strategy;
  const bool renews;
  const std::thread::id taken_by = calling_thread();
  const bool is_of_thread = by && *by == holder::this_thread();  // and not of a named holder
  const bool has_lease;
  const duration at_least;
  const std::unique_ptr<const std::string> note;  // nullptr: none
  // Set once, before another thread sees this object:
  std::atomic<std::int64_t> term{0};   // of the guard over failovers, when the database last said that it is held
  counters* counts = nullptr;          // nullptr: the client's own lock, which is not counted and not reported
  base::instant asked_at{};            // when the request was sent that was granted
  std::atomic<fencing_token> token{};  // changed by the thread that has claimed it, as is the next one
  // By the destructor of its last handle: a call without a thread acquired it.
  std::atomic<bool> is_released_in_background{false};
  std::atomic<bool> is_shared{false};  // it has so many permits of the name, or holds it exclusively:
  std::int64_t permits = 1;
  std::unique_ptr<handed_tenure> tenure;                // nullptr: the database granted it
  base::instant hold_limit = base::instant::max();      // when it is lost, even if it is renewed
  base::instant stays_until = base::instant::min();     // a release before that time is deferred
  const std::unique_ptr<held_transaction> transaction;  // used by the thread that has claimed this lock

  void share_as(const core::sharing& how) noexcept {
    is_shared = !how.is_exclusive();
    if (is_shared) permits = how.permits;
  }
  bool is_alone() const noexcept { return !is_shared; }
  /// Its identity in the database. Valid as long as this object.
  store::lease_ref ref(duration lease) const noexcept {
    return {.name = name.view(), .acquisition = id.text(), .lease = lease, .is_share = is_shared};
  }
  bool is_foreign() const noexcept { return process_.is_foreign(); }

  /// As marked so far, whatever the time is.
  bool is_held() const noexcept { return status_.load() == held; }
  /// Whether its holder may rely on it. Marks it as lost if its deadline has passed.
  bool is_held_at(base::instant now) noexcept;
  loss_reason why_lost() const noexcept;
  /// false: it was lost or released before. A lock whose deadline has passed is lost and cannot be released.
  bool release(base::instant now) noexcept;
  /// true: the caller fires lost().
  bool lose(loss_reason why) noexcept;
  /// For a lock that was marked as lost by the clock: true once, and the caller fires lost(). While the lock is
  /// registered, the watchdog does this by itself, since the deadline has passed.
  bool take_unfired() noexcept { return is_unfired_.exchange(false); }
  /// From the request until it was released or lost. Only for a lock that is not held any more.
  duration was_held_for() const noexcept { return was_held_for_; }

  /// The length of its lease or, for a transaction, how long it may be silent before the server ends it.
  duration time_to_live() const noexcept { return duration{time_to_live_.load(std::memory_order_relaxed)}; }
  void set_time_to_live(duration d) noexcept { time_to_live_.store(d.count(), std::memory_order_relaxed); }
  base::instant deadline() const noexcept { return at(deadline_); }
  /// How long it may remain in the database after its holder has ceased to rely on it.
  duration outlives_by() const noexcept { return has_lease ? time_to_live() : duration::max(); }
  /// When it ends in the database, according to the answers so far.
  base::instant over() const noexcept { return at(over_); }
  base::instant renewal_due() const noexcept { return at(due_); }
  /// For a lock that no other thread has seen yet. Not beyond hold_limit.
  void set_deadline(base::instant t) noexcept { set(deadline_, std::min(t, hold_limit)); }
  /// Never makes it later.
  void shorten_deadline(base::instant t) noexcept;
  /// The answer to the granted request, sent at `sent`: so much is left of the lease.
  void set_first_left(base::instant sent, duration left, base::instant now) noexcept;
  /// The same for a renewal or extend. false: it came too late, and the lock is lost.
  bool set_left(base::instant sent, duration left, base::instant now) noexcept;
  void set_renewal_due(base::instant t) noexcept { set(due_, t); }
  /// For a lock that no other thread has seen yet: it continues the acquisition of one that was released.
  void continue_from(const lease_state& before, const core::tenure& plan, base::instant now) noexcept;

  /// Not if its lease covers all the time for which it may be held.
  bool wants_renewal() const noexcept { return renews && is_held() && !is_limited_now(); }

  /// Whether the last renewal that was sent has no answer, or has failed for lack of one.
  std::atomic<bool> is_unreachable{false};
  /// Whether its holder has changed its length: such a request may take effect late.
  std::atomic<bool> was_extended{false};
  /// Whether it was shared, or was made exclusive, since its grant: its token may be greater than a reserved one.
  std::atomic<bool> was_converted{false};
  /// The reason of its loss if its deadline passes now.
  loss_reason why_overdue() const noexcept {
    if (is_limited_now()) return loss_reason::hold_limit;
    return is_unreachable ? loss_reason::unreachable : loss_reason::expired;
  }

  /// The reason of its loss, given the contents of its row. No client takes over a lease that has not run out: if
  /// another client holds the name before that, the lock was freed in between. `present`: the guard's term. Since a
  /// failover the server may lack the grant.
  loss_reason why_gone(loss_reason found, base::instant now, std::int64_t present) const noexcept {
    const bool runs_out = has_lease && now >= deadline();
    if (has_lease && !runs_out && term < present) return loss_reason::forgotten;
    return found == loss_reason::taken_over && !runs_out ? loss_reason::forced : found;
  }

  /// A transaction of that session of the server has confirmed it and pins its row.
  void was_confirmed_by(core::session_number session) noexcept;
  core::session_number confirmed_by() const noexcept { return confirmed_by_; }
  bool was_confirmed() const noexcept { return was_confirmed_; }

  /// In one order with release(): if a thread claims it and then finds it held, the releasing thread sees the claim.
  bool claim() noexcept { return !claimed_.exchange(true); }
  void claim_or_wait() noexcept;
  void unclaim() noexcept;
  /// Returns when no claim is held.
  void wait_for_claimant() const noexcept { claimed_.wait(true, std::memory_order_acquire); }
  /// Once it was released and its end is deferred: whether an earlier request may still prolong it.
  bool may_be_prolonged() const noexcept { return at_least > duration::zero() && (claimed_.load() || is_unreachable); }

  /// Stops when it is lost. It is made for the first caller, since few ask. Making it and taking it for firing exclude
  /// each other, and the lock is marked as lost before it is fired: so a token that the firing does not find is made
  /// after that mark, and is stopped from the start.
  std::stop_token lost_token();
  /// Once it was lost: the source to fire. Without stop_possible() there is no token that is not stopped.
  std::stop_source lost_source() const noexcept;

  /// When the granted acquisition was asked for.
  base::instant had_since() const noexcept { return tenure ? tenure->plan.began : asked_at; }

  // Of lock_registry, under its mutex.
  std::size_t slot = 0;
  std::size_t handles = 1;
  std::vector<std::thread::id> takers{};  // of its handles, as far as they remain with their threads
  bool is_listed = false;
  bool is_being_shared = false;  // a downgrade is under way: no holder reenters it alone

 private:
  enum status : std::uint8_t { held, released, lost };  // lost + reason

  using atomic_time = std::atomic<base::instant::rep>;
  static base::instant at(const atomic_time& t) noexcept {
    return base::instant{duration{t.load(std::memory_order_acquire)}};
  }
  static void set(atomic_time& to, base::instant t) noexcept {
    to.store(t.time_since_epoch().count(), std::memory_order_release);
  }
  bool mark_lost(loss_reason why) noexcept;  // under changing_, as the next two
  template <class Count>
  bool leave_held(std::uint8_t to, Count count) noexcept;
  bool is_overdue(base::instant now) const noexcept { return is_held() && deadline() <= now; }

  bool is_limited_now() const noexcept { return hold_limit != base::instant::max() && deadline() >= hold_limit; }
  /// Until it is released: neither the server nor time ends it.
  bool never_expires() const noexcept { return !has_lease && !transaction; }

  const base::fork_guard process_;
  mutable std::mutex changing_;  // of status_, deadline_ and over_
  std::atomic<std::uint8_t> status_{held};
  std::atomic<bool> is_unfired_{false};
  duration was_held_for_{};
  std::atomic<duration::rep> time_to_live_;
  atomic_time deadline_{0};
  atomic_time over_{0};
  atomic_time due_{0};
  std::atomic<bool> claimed_{false};
  std::atomic<bool> was_confirmed_{false};  // by any session: in a file it is not known which
  std::atomic<core::session_number> confirmed_by_{core::session_number::unknown};
  std::stop_source lost_{std::nostopstate};  // under changing_
};

using lease_ptr = std::shared_ptr<lease_state>;

/// For the call that relied on it.
error lock_lost(const lease_state& a, std::string_view how);
error lock_lost(const lease_state& a, loss_reason why);

/// Keeps renewals away while the holder's own call is under way.
class claimed_lease {
 public:
  explicit claimed_lease(lease_state& a) : a_{a} { a_.claim_or_wait(); }
  claimed_lease(const claimed_lease&) = delete;
  claimed_lease& operator=(const claimed_lease&) = delete;
  ~claimed_lease() { a_.unclaim(); }

 private:
  lease_state& a_;
};

/// Notified of the outcome for leases by the threads that keep them.
class lease_listener {
 public:
  lease_listener() = default;
  lease_listener(const lease_listener&) = delete;
  lease_listener& operator=(const lease_listener&) = delete;
  virtual ~lease_listener() = default;
  virtual void renewed(const lease_state& a) noexcept = 0;
  /// There was no answer.
  virtual void renewal_failed(const lease_state& a, const error& why) noexcept = 0;
  /// According to the database; the listener marks it as lost.
  virtual void gone(const lease_ptr& a, loss_reason why) = 0;
};

}  // namespace rowlock::inline v1::engine
