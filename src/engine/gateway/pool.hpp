#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::engine {

/// The purpose of a session. Each takes precedence over the next.
enum class purpose : std::uint8_t {
  renewing,   ///< renewing and extending held locks
  releasing,  ///< releasing, and all other work of the maintenance thread
  usual       ///< all other work
};

/// A client's sessions: opened when needed, at most `most`. A call that finds none free waits until its deadline.
/// Sessions are given out by purpose, and within a purpose in the order of the calls. `kept` of them are not for usual
/// purposes, so that renewals and releases need not wait for calls that ask for more locks.
///
/// No call waits while a session is free: a session that is given back is handed to the next waiting call.
///
/// If the server permits this client fewer than `most`, the pool uses those that it has, and tries to open more from
/// time to time.
class pool {
 public:
  using open_session = std::function<std::unique_ptr<driver::session>(const driver::limits&)>;
  struct size {
    std::size_t most;
    std::size_t kept = 0;  ///< fewer than `most`
  };

  /// `option` is the name of the option that limits their number. Opening one takes at most `longest`. `reopened` is
  /// called when one was opened after one was lost.
  pool(open_session open, std::string option, size of, duration longest, std::function<void()> reopened = {})
      : open_{std::move(open)},
        option_{std::move(option)},
        most_{of.most},
        most_usual_{of.most - of.kept},
        longest_{longest},
        reopened_{std::move(reopened)} {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// A session, lent. Given back at the end, unless it was discarded.
  class loan {
   public:
    loan(pool& from, std::unique_ptr<driver::session> session, purpose what_for)
        : from_{from}, session_{std::move(session)}, what_for_{what_for} {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() {
      from_.give_back(std::move(session_), what_for_, was_lost_);
      if (keeps_replaced_) from_.keep(std::move(replaced_));
    }
    driver::session& operator*() const noexcept { return *session_; }
    /// Another session in place of this one, which is closed at the end of the loan.
    void replace(const driver::limits& until) { replaced_ = std::exchange(session_, from_.another(until)); }
    /// It is not closed, if the pool may have one more.
    void keep_replaced() noexcept { keeps_replaced_ = true; }
    /// The session is of no further use.
    void discard() noexcept { session_.reset(); }
    /// The same, but its end was not intended.
    void lose() noexcept {
      was_lost_ = true;
      discard();
    }

   private:
    pool& from_;
    std::unique_ptr<driver::session> replaced_;  // it may still be in use
    std::unique_ptr<driver::session> session_;
    const purpose what_for_;
    bool was_lost_ = false;
    bool keeps_replaced_ = false;
  };

  /// Throws pool_exhausted at the deadline, cancelled on stop, or what opening a session threw.
  loan borrow(const driver::limits& until, purpose what_for = purpose::usual) {
    return {*this, take(until, what_for), what_for};
  }
  /// The same, for longer than a call.
  std::unique_ptr<loan> lend(const driver::limits& until) {
    return std::make_unique<loan>(*this, take(until, purpose::usual), purpose::usual);
  }

  /// Keeps no session any more: idle ones are closed now, others when they are given back. Calls that are still under
  /// way, such as the release of a lock that was granted while the client closed, may borrow until they end.
  void close() noexcept;

  struct usage {
    std::size_t open = 0;    ///< or being opened
    std::size_t in_use = 0;  ///< of these
    std::size_t waiting = 0;
  };
  usage used();

 private:
  struct waiter {
    std::condition_variable_any woken;
    std::unique_ptr<driver::session> session;  // nullptr: the place of a session to be opened
    bool has_turn = false;
  };
  struct contents {
    std::vector<std::unique_ptr<driver::session>> idle;
    std::array<std::list<waiter*>, 3> waiting;  // by purpose
    std::size_t open = 0;                       // idle, lent or being opened
    std::size_t usual = 0;                      // of these, lent or being opened for usual purposes
    std::size_t lost = 0;                       // and not opened again
    std::size_t allowed = unlimited;            // by the server, as far as known
    base::instant allowed_until{};              // then it tries again to open more
    bool is_closed = false;
  };
  static constexpr auto unlimited = std::numeric_limits<std::size_t>::max();
  bool may_open(const contents& in) const noexcept;
  bool has_one_for(const contents& in, purpose what_for) const noexcept;
  static std::unique_ptr<driver::session> take_one(contents& from, purpose what_for);
  static std::unique_ptr<driver::session> take_idle(contents& from);
  void serve(contents& from);
  std::unique_ptr<driver::session> wait_for_one(base::guarded<contents>::access& state, const driver::limits& until,
                                                purpose what_for);
  std::unique_ptr<driver::session> take(const driver::limits& until, purpose what_for);
  std::unique_ptr<driver::session> another(const driver::limits& until);
  void keep(std::unique_ptr<driver::session> spare) noexcept;
  std::unique_ptr<driver::session> take_or_reserve(const driver::limits& until, purpose what_for);
  std::unique_ptr<driver::session> open_reserved(const driver::limits& until, purpose what_for);
  bool makes_do(purpose what_for) noexcept;
  void give_back(std::unique_ptr<driver::session> session, purpose what_for, bool was_lost) noexcept;
  void tell_if_reopened();
  driver::limits opening(const driver::limits& until) const;

  open_session open_;
  std::string option_;
  std::size_t most_;
  std::size_t most_usual_;
  duration longest_;
  std::function<void()> reopened_;
  base::guarded<contents> state_;
};

}  // namespace rowlock::inline v1::engine
