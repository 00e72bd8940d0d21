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
  /// How the lead is taken and kept: lock_options::lease is how long a leader that died keeps the others waiting, and
  /// with fairness::fifo candidates come in the order in which they began to wait.
  lock_options lock{};
  /// The time between two looks of an observer: 10 ms to 1 day.
  duration look_every = std::chrono::seconds{1};
};

/// An election: of all candidates for a name, on all hosts together, one leads at a time.
///
/// The lead is a lock of that name, held by a lease, and so excludes everybody else who takes the name, by whichever
/// call and strategy. Its fencing token is the leader's term: of two leaders the later has the greater term. (etcd has
/// the calls: Campaign, Resign, Leader and Observe; Curator's LeaderSelector has lead().)
///
///     a candidate                 becomes                     by
///     waits                       leads                       the grant, with a term greater than all before
///     leads                       resigned, or waits again    the end of the work, resign(), a stop, a release
///     leads                       lost the lead               what ends any lease; see held_lock::lost()
///
/// A leader that resigns has a successor at once: the release notifies those who wait. After a crash there is one as
/// soon as the lease has ended. Waits survive lost connections and restarts of the server.
///
/// \warning A leader that was paused for longer than its lease may act once more before it learns that another one
/// leads. Writes that must not happen then need confirm(), or a storage that refuses the smaller of two terms.
///
/// The lead is never handed over inside a client (client_options::handover), so that everybody can see each leader.
///
/// Threads: any thread may use it, several at once. Each call of campaign() and lead() is a candidate of its own.
///
/// Lifetime: it may outlive its client; its calls then throw errc::client_closed. It must outlive its calls, but not
/// its observations. In a child process after fork() its calls throw errc::used_after_fork.
class ROWLOCK_EXPORT election {
 public:
  /// Makes an election; sends nothing to the database.
  ///
  /// Throws:
  /// - errc::invalid_option: an option is out of its bounds, or lock_options::as is set: each candidate is a holder of
  ///   its own
  /// - errc::unsupported: for_update, of which nobody can see who has the name
  /// - errc::client_closed: the client was moved from
  election(client& of, lock_name name, election_options options = {});
  election(const election&) = delete;
  election& operator=(const election&) = delete;
  ~election();

  /// Waits without a time limit until it leads, and returns the lead.
  ///
  /// Its token() is the term, lost() tells of its loss, and release() resigns, as does the end of its scope. Throws
  /// what client::acquire() throws: errc::cancelled by `stop`, errc::client_closed.
  [[nodiscard]] held_lock campaign(std::stop_token stop = {});
  /// Tries once to lead; nullopt: another one leads, or comes first.
  [[nodiscard]] std::optional<held_lock> try_campaign();
  /// Waits for at most `wait`; otherwise as client::try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_campaign_for(const std::chrono::duration<Rep, Period>& wait,
                                                          std::stop_token stop = {}) {
    return try_campaign_for_(detail::saturate(wait), std::move(stop));
  }
  /// Waits until the time `t`; otherwise as client::try_acquire_until().
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_campaign_until(const std::chrono::time_point<Clock, Duration>& t,
                                                            std::stop_token stop = {}) {
    return try_campaign_for_(detail::until(t), std::move(stop));
  }

  /// What a leader does: until it is done, or the token is stopped, which it must obey. The lead is for confirm(), and
  /// its token() is the term.
  using work = std::function<void(std::stop_token, const held_lock&)>;

  /// Campaigns, calls `todo` in the calling thread while it leads, and resigns as soon as that has returned.
  ///
  /// The token that `todo` gets is stopped when the lead is lost, by `stop`, and by resign(). Then:
  ///
  /// - stopped by `stop`, which also ends the wait: returns false
  /// - stopped by a loss or by resign(): campaigns again
  /// - `todo` has returned without being told to: resigns and returns true. If it turns out that the lead had been lost
  ///   before, campaigns again: another leader may have begun meanwhile.
  /// - `todo` has thrown: resigns and passes the exception on. An `error` with errc::lock_lost or errc::cancelled from
  ///   work that was told to end counts as its return.
  ///
  /// After resign(), and after a term that lock_options::hold_limit ended, it lets those lead first who wait already.
  ///
  /// \warning Nobody else leads before `todo` has returned only while its lead is not lost: let it end quickly when it
  /// is told to. It resigns no sooner.
  ///
  /// Throws also what campaign() throws but errc::cancelled.
  bool lead(std::stop_token stop, const work& todo);
  /// Ends the present terms of this object's calls of lead(): each work is told to end, and each call campaigns again,
  /// after those who wait already. One that waits begins to wait anew.
  ///
  /// Does not wait for that. A lead that campaign() returned is resigned by its own release().
  void resign();

  /// Returns who leads, as the database records it; nullopt: nobody does.
  ///
  /// lock_info::token is the term, owner and note tell who it is, held_for since when. If a transaction has the name,
  /// or it is shared, nobody leads. Throws what client::find() throws.
  std::optional<lock_info> leader();

  /// Looks again and again who leads, from construction to destruction.
  ///
  /// Lifetime: it may outlive its election and its client; it ends when the client is closed. After fork() it is inert
  /// in the child.
  ///
  /// Destruction: the destructor does what stop() does. It must not run in the callback.
  class [[nodiscard]] ROWLOCK_EXPORT observation {
   public:
    observation(observation&& other) noexcept;  ///< Takes over; `other` observes nothing then.
    /// Stops, as stop() does, and takes over.
    observation& operator=(observation&& other) noexcept;
    ~observation();

    /// Ends the looking: no call of the callback begins after it.
    ///
    /// Waits for one that is under way, and for at most client_options::call_timeout for the database; called by the
    /// callback, it waits for nothing. Idempotent.
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

  /// What an observer is told: who leads now (see leader()), or that nobody does.
  using observer = std::function<void(const std::optional<lock_info>&)>;

  /// Calls `changed` with who leads: once at the beginning, then after each look that has found another term, or none.
  ///
  /// It looks every election_options::look_every. A leader that came and went between two looks is not seen; what stays
  /// is. A term is never older than one that was told before. A look that fails is made up for by the next.
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
