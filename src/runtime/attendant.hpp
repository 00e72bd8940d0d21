#pragma once

#include <rowlock/error.hpp>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "runtime/alarm.hpp"
#include "runtime/holdings.hpp"

namespace rowlock::inline v1::runtime {

/// Looks after the transactions that hold locks: lets the server hear from each before it takes its holder for dead,
/// and notices when one has ended. Its thread starts with the first. It does not speak on connections itself, so that
/// one that hangs holds up no other: each beat has a thread of its own, and short holds need none.
class attendant {
 public:
  struct hands {
    std::function<void(driver::session&, const driver::limits&)> beat;
    std::function<void(const acquisition_ptr&, loss_reason)> lost;
    /// A call on a session was cut, and the server may not know.
    std::function<void(const std::stop_token&)> was_cut;
    /// The server has heard from it.
    std::function<void(const acquisition&)> renewed;
    std::function<void(const error&)> failed;
  };

  explicit attendant(hands doing) : doing_{std::move(doing)} {}
  attendant(const attendant&) = delete;
  attendant& operator=(const attendant&) = delete;
  ~attendant() { stop(); }

  /// Before the first is attended. Throws where no thread can be had.
  void start();
  void attend(const acquisition_ptr& a);
  /// The caller has claimed it.
  void forget(const acquisition& a) noexcept;
  /// Some have been lost: their transactions are to end.
  void look() noexcept { alarm_.arm(core::instant::min()); }
  void stop() noexcept;

 private:
  struct contents {
    std::vector<acquisition_ptr> attended;
    std::jthread thread;
    bool is_stopped = false;
  };
  struct beating {
    std::atomic<bool> is_over{false};
    std::jthread thread;
  };

  void run(const std::stop_token& stop);
  std::vector<acquisition_ptr> attended();
  core::instant look_after(const acquisition_ptr& a);
  core::instant end_in_time(const acquisition_ptr& a);
  void begin_to_beat(const acquisition_ptr& a);
  void beat(const acquisition_ptr& a, const std::stop_token& stop) noexcept;

  hands doing_;
  alarm alarm_;
  guarded<contents> state_;
  std::list<beating> beats_;  // this and the next of its own thread
  core::instant again_at_{};
};

}  // namespace rowlock::inline v1::runtime
