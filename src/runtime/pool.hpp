#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/session.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// A client's sessions: opened when needed, at most `most`; whoever finds none free waits to its deadline.
class pool {
 public:
  using open_session = std::function<std::unique_ptr<driver::session>(const driver::limits&)>;

  /// `option` says who limits them to so many. `longest` is how long opening one may take. `reopened` is called when
  /// one was opened after one was lost.
  pool(open_session open, std::string option, std::size_t most, duration longest, std::function<void()> reopened = {})
      : open_{std::move(open)},
        option_{std::move(option)},
        most_{most},
        longest_{longest},
        reopened_{std::move(reopened)} {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// A session, lent. Given back at the end, unless it was discarded.
  class loan {
   public:
    loan(pool& from, std::unique_ptr<driver::session> session) : from_{from}, session_{std::move(session)} {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() { from_.give_back(std::move(session_), was_lost_); }
    driver::session& operator*() const noexcept { return *session_; }
    /// It is of no further use.
    void discard() noexcept { session_.reset(); }
    /// The same, and nobody meant to end it.
    void lose() noexcept {
      was_lost_ = true;
      discard();
    }

   private:
    pool& from_;
    std::unique_ptr<driver::session> session_;
    bool was_lost_ = false;
  };

  /// Throws pool_exhausted at the deadline, cancelled on stop, or what opening a session threw.
  loan borrow(const driver::limits& until) { return {*this, take(until)}; }
  /// The same, for longer than a call.
  std::unique_ptr<loan> lend(const driver::limits& until) { return std::make_unique<loan>(*this, take(until)); }

  /// Keeps no session any more: idle ones are closed now, others when they come back. What is still under way, such as
  /// the release of a lock that was granted while the client closed, may borrow to its end.
  void close() noexcept;

  struct usage {
    std::size_t open = 0;    ///< or being opened
    std::size_t in_use = 0;  ///< of these
  };
  usage used();

 private:
  struct contents {
    std::vector<std::unique_ptr<driver::session>> idle;
    std::size_t open = 0;  // idle, lent or being opened
    std::size_t lost = 0;  // and not opened again
    bool is_closed = false;
  };
  std::unique_ptr<driver::session> take(const driver::limits& until);
  std::unique_ptr<driver::session> take_or_reserve(const driver::limits& until);
  void give_back(std::unique_ptr<driver::session> session, bool was_lost) noexcept;
  void tell_if_reopened();
  driver::limits opening(const driver::limits& until) const;

  open_session open_;
  std::string option_;
  std::size_t most_;
  duration longest_;
  std::function<void()> reopened_;
  std::condition_variable_any freed_;
  guarded<contents> state_;
};

}  // namespace rowlock::inline v1::runtime
