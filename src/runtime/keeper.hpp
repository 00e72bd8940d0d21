#pragma once

#include <rowlock/error.hpp>

#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "runtime/alarm.hpp"
#include "runtime/holdings.hpp"
#include "runtime/undo_list.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::runtime {

/// A client's maintenance thread: renews all leases that are due in one step, repeats what must be undone, and keeps
/// tickets alive. Nothing that fails here ends it; a lease that it cannot renew is lost by the watchdog's hand, not by
/// its own.
class keeper {
 public:
  /// What it does to the database, and whom it tells.
  struct hands {
    std::function<std::vector<strategies::renewal>(std::span<const strategies::held>, const driver::limits&)> renew;
    std::function<void(std::vector<undo_list::entry>, const driver::limits&)> undo;  // does not throw
    std::function<void(const acquisition_ptr&, loss_reason)> lost;
    /// What there is to do for those who wait, and when.
    std::function<core::instant()> next_errand;
    std::function<void(const driver::limits&)> errands;  // does not throw
    std::function<void(const acquisition&)> renewed = [](const auto&) {};
    /// For want of an answer.
    std::function<void(const acquisition&, const error&)> renewal_failed = [](const auto&, const auto&) {};
  };

  keeper(holdings& held, undo_list& undo, hands doing, duration call_timeout);
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;
  ~keeper() { stop(); }

  void start();
  /// There is something to do at `t`.
  void arm(core::instant t) noexcept { alarm_.arm(t); }
  void stop() noexcept;

 private:
  void run(const std::stop_token& stop);
  std::vector<acquisition_ptr> due(core::instant now);
  static std::vector<acquisition_ptr> claim(std::span<const acquisition_ptr> some);
  core::instant next_renewal();
  void renew(const std::vector<acquisition_ptr>& some, const std::stop_token& stop);
  void ask_for_renewal(std::span<const acquisition_ptr> some, const std::stop_token& stop);
  void retry(std::span<const acquisition_ptr> some) const;
  void take_answer(const acquisition_ptr& a, const strategies::renewal& answer, core::instant sent) const;

  holdings& held_;
  undo_list& undo_;
  hands doing_;
  duration call_timeout_;
  alarm alarm_;
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::runtime
