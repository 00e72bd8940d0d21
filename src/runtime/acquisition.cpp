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
  const auto now = status_.load();
  return now < lost ? loss_reason::none : static_cast<loss_reason>(now - lost);
}

bool acquisition::is_held_at(core::instant now) noexcept {
  if (!is_overdue(now)) return is_held();
  const std::lock_guard alone{changing_};
  if (!is_overdue(now)) return is_held();  // an answer has come just before
  is_unfired_ = true;
  return !mark_lost(why_overdue());
}

bool acquisition::let_go(core::instant now) noexcept {
  if (!is_held_at(now)) return false;
  const std::lock_guard alone{changing_};
  return leave_held(released, [this] { counts->released(strategy, was_held_for_); });
}

bool acquisition::lose(loss_reason why) noexcept {
  const std::lock_guard alone{changing_};
  return mark_lost(why);
}

bool acquisition::mark_lost(loss_reason why) noexcept {
  return leave_held(static_cast<std::uint8_t>(lost + static_cast<int>(why)),
                    [this, why] { counts->lost(strategy, why, was_held_for_); });
}

// Nobody sees the state before what goes with it.
template <class Count>
bool acquisition::leave_held(std::uint8_t to, Count count) noexcept {
  if (!is_held()) return false;
  was_held_for_ = driver::now() - asked_at;
  if (counts != nullptr) count();
  status_.store(to);
  return true;
}

void acquisition::shorten_deadline(core::instant t) noexcept {
  const std::lock_guard alone{changing_};
  set_deadline(std::min(t, deadline()));
}

void acquisition::set_first_left(core::instant sent, duration left, core::instant now) noexcept {
  if (lasts()) return;
  set(over_, core::later(now, left));
  set_deadline(core::local_deadline(sent, left, lease()));
}

bool acquisition::set_left(core::instant sent, duration left, core::instant now) noexcept {
  if (!is_held_at(now)) return false;
  const std::lock_guard alone{changing_};
  if (!is_held()) return false;
  set_first_left(sent, left, now);
  return true;
}

void acquisition::was_confirmed_by(std::int64_t session) noexcept {
  std::int64_t before = 0;
  if (!confirmed_by_.compare_exchange_strong(before, session) && before != session) confirmed_by_ = -1;
}

void acquisition::claim_or_wait() noexcept {
  while (!claim()) claimed_.wait(true, std::memory_order_relaxed);
}

void acquisition::unclaim() noexcept {
  claimed_.store(false, std::memory_order_release);
  claimed_.notify_all();
}

}  // namespace rowlock::inline v1::detail
