#include "runtime/acquisition.hpp"

#include <utility>

#include "driver/boot_clock.hpp"

namespace rowlock::inline v1::detail {

acquisition::acquisition(std::shared_ptr<client_impl> of, lock_name what, holder whose, std::string unique_id,
                         const lock_options& options)
    : client{std::move(of)},
      name{std::move(what)},
      by{std::move(whose)},
      id{std::move(unique_id)},
      strategy{options.strategy},
      renews{options.renew},
      has_lease{true},
      at_least{options.at_least},
      lease_{options.lease.count()} {}

// A transaction has somebody else who keeps it alive.
acquisition::acquisition(std::shared_ptr<client_impl> of, lock_name what, holder whose, std::string unique_id,
                         const lock_options& options, duration limit, std::unique_ptr<runtime::held_transaction> in)
    : client{std::move(of)},
      name{std::move(what)},
      by{std::move(whose)},
      id{std::move(unique_id)},
      strategy{options.strategy},
      renews{in == nullptr},
      has_lease{false},
      at_least{},
      transaction{std::move(in)},
      lease_{limit.count()} {
  if (lasts()) set_deadline(core::instant::max());
}

loss_reason acquisition::why_lost() const noexcept {
  const auto now = status_.load(std::memory_order_acquire);
  return now < lost ? loss_reason::none : static_cast<loss_reason>(now - lost);
}

bool acquisition::let_go() noexcept {
  if (!leave_held(released)) return false;
  if (counts != nullptr) counts->released(strategy, was_held_for_);
  return true;
}

bool acquisition::lose(loss_reason why) noexcept {
  if (!leave_held(static_cast<std::uint8_t>(lost + static_cast<int>(why)))) return false;
  if (counts != nullptr) counts->lost(strategy, why, was_held_for_);
  return true;
}

bool acquisition::leave_held(std::uint8_t to) noexcept {
  std::uint8_t expected = held;
  if (!status_.compare_exchange_strong(expected, to)) return false;
  was_held_for_ = driver::now() - asked_at;
  return true;
}

void acquisition::claim_or_wait() noexcept {
  while (!claim()) claimed_.wait(true, std::memory_order_relaxed);
}

void acquisition::unclaim() noexcept {
  claimed_.store(false, std::memory_order_release);
  claimed_.notify_all();
}

}  // namespace rowlock::inline v1::detail
