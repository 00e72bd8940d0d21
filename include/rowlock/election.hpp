#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

class client;

/// How an election is held.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct election_options {
  /// How the lead is acquired and kept. lock_options::lease is the longest time that a dead leader keeps the candidates
  /// waiting. With fairness::fifo the candidates lead in the order in which they began to wait.
  lock_options lock{};
  /// The time between two looks of an observation: 10 ms to 1 day.
  duration look_every = std::chrono::seconds{1};
};

/// An election: of all candidates for a name on all hosts together, one leads at a time.
///
/// The lead is a lock of that name, held by a lease. So it excludes every other client that locks the name, by any call
/// and strategy. Its fencing token is the leader's term: of two leaders, the later one has the greater term. (etcd has
/// the same calls: Campaign, Resign, Leader and Observe; Curator's LeaderSelector has lead().)
///
///     a candidate                 becomes                     by
///     waits                       leads                       the grant, with a term greater than all before
///     leads                       resigned, or waits again    the end of the work, resign(), a stop, a release
///     leads                       lost the lead               what ends any lease; see held_lock::lost()
///
/// If a leader resigns, the next candidate leads at once, because the release notifies the waiters. After a crash the
/// next one leads as soon as the lease has ended. Waits survive lost connections and restarts of the server.
///
/// \warning If a leader was paused for longer than its lease, it may act once more before it learns that another
/// candidate leads. Writes that must not happen then need confirm(), or a storage that refuses the smaller of two
/// terms.
///
/// The lead is never handed over inside a client (client_options::handover), so that every leader is visible to
/// observers.
///
/// Threads: any thread may use it, several at once. Each call of campaign() and lead() is a candidate of its own.
///
/// Lifetime: an election may outlive its client; its calls then throw errc::client_closed. It must outlive its calls,
/// but not its observations. In a child process after fork() its calls throw errc::used_after_fork.
class ROWLOCK_EXPORT election {
 public:
  /// Makes an election; sends nothing to the database.
  ///
  /// Throws:
  /// - errc::invalid_option: an option is out of its bounds, or lock_options::as is set, because each candidate is a
  ///   holder of its own
  /// - errc::unsupported: the strategy is for_update, whose holder is not visible to observers
  /// - errc::client_closed: the client was moved from
  election(client& of, lock_name name, election_options options = {});
  election(const election&) = delete;
  election& operator=(const election&) = delete;
  ~election();

  /// Waits without a time limit until this candidate leads, and returns the lead.
  ///
  /// The lead's token() is the term, lost() reports its loss, and release() or the end of its scope resigns. Throws
  /// what client::acquire() throws: errc::cancelled because of `stop`, errc::client_closed.
  [[nodiscard]] held_lock campaign(std::stop_token stop = {});
  /// Tries once to lead; nullopt means that another candidate leads or comes first.
  [[nodiscard]] std::optional<held_lock> try_campaign();
  /// Waits for at most `wait` to lead; otherwise as client::try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_campaign_for(const std::chrono::duration<Rep, Period>& wait,
                                                          std::stop_token stop = {}) {
    return try_campaign_for_(detail::saturate(wait), std::move(stop));
  }
  /// Waits until the time `t` to lead; otherwise as client::try_acquire_until().
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_campaign_until(const std::chrono::time_point<Clock, Duration>& t,
                                                            std::stop_token stop = {}) {
    return try_campaign_for_(detail::until(t), std::move(stop));
  }

  /// The work of a leader: it must return when it is done or when stop is requested. The lead is passed for confirm();
  /// its token() is the term.
  using work = std::function<void(std::stop_token, const held_lock&)>;

  /// Campaigns, calls `todo` in the calling thread while this candidate leads, and resigns as soon as `todo` has
  /// returned.
  ///
  /// The stop_token that `todo` receives is stopped when the lead is lost, when `stop` is requested, and by resign().
  /// Then:
  ///
  /// - if `stop` was requested, which also ends the wait, lead() returns false
  /// - if the lead was lost, or resign() was called, lead() campaigns again
  /// - if `todo` has returned without a requested stop, lead() resigns and returns true; if the lead turns out to have
  ///   been lost before that, another leader may have begun meanwhile, so lead() campaigns again
  /// - if `todo` has thrown, lead() resigns and passes the exception on; an `error` with errc::lock_lost or
  ///   errc::cancelled after a requested stop counts as a return
  ///
  /// After resign(), and after a term that lock_options::hold_limit ended, the candidates that wait already lead first.
  ///
  /// \warning lead() does not resign before `todo` has returned. But if the lead is lost, another candidate may lead
  /// while `todo` still runs: let `todo` return quickly when stop is requested.
  ///
  /// Throws also what campaign() throws, except errc::cancelled.
  bool lead(std::stop_token stop, const work& todo);
  /// Ends the present terms of this object's calls of lead().
  ///
  /// Each work is stopped, and each call campaigns again, after the candidates that wait already. A call that is
  /// waiting begins to wait anew.
  ///
  /// The call does not wait for the works to return. A lead that campaign() returned is resigned by its own release().
  void resign();

  /// Returns the present leader, as the database records it; nullopt means that no candidate leads.
  ///
  /// lock_info::token is the term, owner and note identify the leader, and held_for is the age of the term. If a
  /// transaction holds the name, or if it is shared, no candidate leads. Throws what client::find() throws.
  std::optional<lock_info> leader();

  /// Looks up the leader at regular intervals, from construction to destruction.
  ///
  /// Lifetime: an observation may outlive its election and its client; it ends when the client is closed. After fork()
  /// it is inert in the child.
  ///
  /// Destruction: the destructor does what stop() does. It must not run in the callback.
  class [[nodiscard]] ROWLOCK_EXPORT observation {
   public:
    observation(observation&& other) noexcept;  ///< Takes over; `other` then observes nothing.
    /// Stops this observation, as stop() does, and takes over `other`.
    observation& operator=(observation&& other) noexcept;
    ~observation();

    /// Stops looking: after the return, no call of the callback begins.
    ///
    /// If a callback is running, the call waits for it, and for the database for at most client_options::call_timeout.
    /// If the callback itself calls stop(), the call waits for nothing. Idempotent.
    void stop() noexcept;

   private:
    friend class election;
    struct state;
    struct ending {
      void operator()(state* of) const noexcept;
    };
    explicit observation(std::unique_ptr<state, ending> of) noexcept;
    std::unique_ptr<state, ending> state_;
  };

  /// The function that is called with the present leader (see leader()), or with nullopt if no candidate leads.
  using observer = std::function<void(const std::optional<lock_info>&)>;

  /// Calls `changed` with the present leader: once at the beginning, then after each look that has found another term
  /// or no leader.
  ///
  /// The observation looks every election_options::look_every. If a leader came and went between two looks, it is not
  /// seen, but the last state always is. A reported term is never older than one reported before. After a failed look,
  /// the next look makes up for it.
  ///
  /// `changed` is called on a thread that belongs to the observation, one call at a time. It may block, and may use
  /// rowlock. Its exceptions are swallowed.
  ///
  /// Throws errc::client_closed, errc::used_after_fork, and errc::connection_failed if no thread can be started.
  observation observe(observer changed);

  /// Returns the name that the election was made with.
  const lock_name& name() const noexcept;

 private:
  std::optional<held_lock> try_campaign_for_(duration wait, std::stop_token stop);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
