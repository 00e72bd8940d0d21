#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/process.hpp"
#include "base/time.hpp"
#include "engine/flow/flow.hpp"

namespace rowlock::inline v1::engine {

/// A few threads that carry calls without a thread, as long as these have something to do.
///
///   ready --a thread takes it--> running --it has ended--> over
///   running --it waits--> asleep --woken, or its time is over--> ready
///   running --woken--> ready again, when it waits
///
/// close() ends the waits of all, and carries them to their end itself if it is called by one of them.
class runner {
  struct shared;

 public:
  class call;

 private:
  using calls = std::multimap<base::instant, std::shared_ptr<call>>;  // nodes move: to wake one needs no memory

 public:
  class call : public waker {
   public:
    explicit call(const runner& in) noexcept : in_{in.shared_} {}
    /// Goes on, until it has ended (nullopt) or has to be woken; at that time at the latest.
    virtual std::optional<base::instant> go_on() noexcept = 0;
    void wake() noexcept final;
    /// Whether other calls wait for a thread.
    bool is_urged() const noexcept;

   private:
    friend class runner;
    friend struct runner::shared;
    const std::shared_ptr<shared> in_;
    // Under its mutex:
    enum : std::uint8_t { ready, running, woken, asleep } state_ = ready;
    calls::iterator place_{};  // while it sleeps
  };

  /// `threads`: started with the first call.
  explicit runner(std::size_t threads);
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  ~runner();

  /// false: it is closed. Throws if no thread can be started. `returns`: the calling thread returns at once to whoever
  /// called it; if it is one of these threads, it carries the call itself, and no other has to be woken.
  bool start(std::shared_ptr<call> one, bool returns = false);
  /// All calls wake, and their waits must be over by then. Returns when they have ended, except the one that closes, or
  /// at the deadline.
  void close(base::instant deadline) noexcept;

 private:
  const std::size_t threads_;
  const std::shared_ptr<shared> shared_;
};

}  // namespace rowlock::inline v1::engine
