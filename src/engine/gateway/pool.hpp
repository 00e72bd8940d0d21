#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
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
/// A session is opened by a thread of its own, which no call cuts. If its call has left meanwhile, stopped or out of
/// time, the session goes to the next one. Otherwise calls that leave sooner than a busy server answers would open
/// connections without end, which keep the server busy, and none would ever be used. If the server is silent for long,
/// another session is opened beside: what the first one said may be lost.
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

  /// `server` and `option` are for messages: its name, and the name of the option that limits the number of sessions.
  /// Opening one takes at most `longest`. `reopened` is called when one was opened after one was lost.
  pool(open_session open, std::string server, std::string option, size of, duration longest,
       std::function<void()> reopened = {})
      : open_{std::move(open)},
        server_{std::move(server)},
        option_{std::move(option)},
        most_{of.most},
        most_usual_{of.most - of.kept},
        longest_{longest},
        reopened_{std::move(reopened)} {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() { end_dials(); }

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

  /// Throws cancelled on stop, what opening a session threw, and at the deadline connection_failed if one was still
  /// being opened, otherwise pool_exhausted.
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
    const base::instant deadline;
    const std::uint64_t number;
    std::condition_variable_any woken{};
    std::unique_ptr<driver::session> session{};
    std::exception_ptr failure{};  // why there is no session
    bool has_turn = false;
  };
  struct dial {
    const base::instant began;
    const std::uint64_t for_waiters_to;  // by their numbers
    std::jthread thread{};
    bool is_under_way = true;
    bool is_over = false;
  };
  struct contents {
    std::vector<std::unique_ptr<driver::session>> idle;
    std::array<std::list<waiter*>, 3> waiting;  // by purpose
    std::size_t open = 0;                       // idle, lent or being opened
    std::size_t usual = 0;                      // of these, lent for usual purposes
    std::size_t lost = 0;                       // and not opened again
    std::size_t allowed = unlimited;            // by the server, as far as known
    base::instant allowed_until{};              // then it tries again to open more
    std::exception_ptr refusal{};               // of the server, to open more
    std::list<dial> dials;
    std::uint64_t waiters = 0;  // that there have been
    bool is_closed = false;
  };
  static constexpr auto unlimited = std::numeric_limits<std::size_t>::max();
  bool may_open(const contents& in) const noexcept;
  bool may_have_one(const contents& in, purpose what_for) const noexcept;
  std::size_t wanted(const contents& in) const noexcept;
  static duration overdue_after(const contents& in) noexcept;
  static std::size_t expected_soon(const contents& in) noexcept;
  static base::instant next_overdue(const contents& in) noexcept;
  static std::unique_ptr<driver::session> take_idle(contents& from);
  static std::vector<std::unique_ptr<driver::session>> take_all_idle(contents& from) noexcept;
  void serve(contents& from) noexcept;
  void hand_out_idle(contents& from) noexcept;
  static void end_turn(std::list<waiter*>& line) noexcept;
  void begin_dial(contents& in) noexcept;
  void run(dial& mine, const driver::limits& until) noexcept;
  static void arrived(contents& in, std::unique_ptr<driver::session> session) noexcept;
  static void failed(contents& in, const dial& mine, std::exception_ptr why, bool is_over_limit) noexcept;
  base::instant deadline_of_dial(const contents& in) const noexcept;
  void end_dials() noexcept;
  [[noreturn]] void give_up(const contents& in, const driver::limits& until) const;
  std::unique_ptr<driver::session> take(const driver::limits& until, purpose what_for);
  std::unique_ptr<driver::session> another(const driver::limits& until);
  void keep(std::unique_ptr<driver::session> spare) noexcept;
  void give_back(std::unique_ptr<driver::session> session, purpose what_for, bool was_lost) noexcept;
  void tell_if_reopened();

  open_session open_;
  std::string server_;
  std::string option_;
  std::size_t most_;
  std::size_t most_usual_;
  duration longest_;
  std::function<void()> reopened_;
  base::guarded<contents> state_;
};

}  // namespace rowlock::inline v1::engine
