#include "engine/lease/lease_state.hpp"

#include <string>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/text.hpp"

namespace rowlock::inline v1::engine {

// In a child of a fork the connection is the parent's: closing it properly would send something on it.
held_transaction::~held_transaction() {
  if (process_.is_foreign()) {
    static_cast<void>(loan_.release());  // NOLINT(bugprone-unused-return-value)
  } else {
    end();
  }
}

void held_transaction::end() noexcept {
  if (!loan_) return;
  was_cut_short_ = heartbeat_cancellation_.stop_requested();
  was_cut_short_ || session().looks_alive() ? loan_->discard() : loan_->lose();
  loan_.reset();
}

namespace {

std::unique_ptr<const std::string> note_of(const lock_options& options) {
  return options.note.empty() ? nullptr : std::make_unique<const std::string>(options.note);
}

}  // namespace

lease_state::lease_state(lock_name what, std::optional<holder> reentered_by, const core::acquisition_id& unique_id,
                         const lock_options& options)
    : name{std::move(what)},
      by{std::move(reentered_by)},
      id{unique_id},
      strategy{options.strategy},
      renews{options.renew},
      has_lease{true},
      at_least{options.at_least},
      note{note_of(options)},
      time_to_live_{options.lease.count()} {}

lease_state::lease_state(lock_name what, std::optional<holder> reentered_by, const holder& whose,
                         const lock_options& options)
    : lease_state{std::move(what), std::move(reentered_by), core::acquisition_id{}, options} {
  tenure = std::make_unique<handed_tenure>(handed_tenure{.by = whose});
}

void lease_state::continue_from(const lease_state& before, const core::tenure& plan, base::instant now) noexcept {
  term = before.term.load();
  id = before.id;
  tenure->plan = plan;
  asked_at = now;
  set(over_, before.over());
  set_deadline(before.deadline());
  set_renewal_due(before.renewal_due());
}

// The heartbeat keeps a transaction alive.
lease_state::lease_state(lock_name what, std::optional<holder> reentered_by, const core::acquisition_id& unique_id,
                         const lock_options& options, duration limit, std::unique_ptr<held_transaction> in)
    : name{std::move(what)},
      by{std::move(reentered_by)},
      id{unique_id},
      strategy{options.strategy},
      renews{in == nullptr},
      has_lease{false},
      at_least{},
      transaction{std::move(in)},
      time_to_live_{limit.count()} {
  if (never_expires()) set_deadline(base::instant::max());
}

loss_reason lease_state::why_lost() const noexcept {
  const auto now = status_.load();
  return now < lost ? loss_reason::none : static_cast<loss_reason>(now - lost);
}

bool lease_state::is_held_at(base::instant now) noexcept {
  if (!is_overdue(now)) return is_held();
  const std::lock_guard alone{changing_};
  if (!is_overdue(now)) return is_held();  // an answer has come just before
  is_unfired_ = true;
  return !mark_lost(why_overdue());
}

bool lease_state::release(base::instant now) noexcept {
  if (!is_held_at(now)) return false;
  const std::lock_guard alone{changing_};
  return leave_held(released, [this] { counts->released(strategy, was_held_for_); });
}

bool lease_state::lose(loss_reason why) noexcept {
  const std::lock_guard alone{changing_};
  return mark_lost(why);
}

bool lease_state::mark_lost(loss_reason why) noexcept {
  return leave_held(static_cast<std::uint8_t>(lost + static_cast<int>(why)),
                    [this, why] { counts->lost(strategy, why, was_held_for_); });
}

// No thread sees the state before the data that belongs to it.
template <class Count>
bool lease_state::leave_held(std::uint8_t to, Count count) noexcept {
  if (!is_held()) return false;
  was_held_for_ = base::now() - asked_at;
  if (counts != nullptr) count();
  status_.store(to);
  return true;
}

void lease_state::shorten_deadline(base::instant t) noexcept {
  const std::lock_guard alone{changing_};
  set_deadline(std::min(t, deadline()));
}

void lease_state::set_first_left(base::instant sent, duration left, base::instant now) noexcept {
  if (never_expires()) return;
  set(over_, base::later(now, left));
  set_deadline(core::local_deadline(sent, left, std::min(left, time_to_live())));
}

bool lease_state::set_left(base::instant sent, duration left, base::instant now) noexcept {
  if (!is_held_at(now)) return false;
  const std::lock_guard alone{changing_};
  if (!is_held()) return false;
  set_first_left(sent, left, now);
  return true;
}

std::stop_token lease_state::lost_token() {
  const std::lock_guard alone{changing_};
  if (!lost_.stop_possible()) {
    lost_ = std::stop_source{};
    if (why_lost() != loss_reason::none) lost_.request_stop();  // it may have been fired when there was none
  }
  return lost_.get_token();
}

std::stop_source lease_state::lost_source() const noexcept {
  const std::lock_guard alone{changing_};
  return lost_;
}

void lease_state::was_confirmed_by(core::session_number session) noexcept {
  was_confirmed_ = true;
  auto before = core::session_number::unknown;
  if (!confirmed_by_.compare_exchange_strong(before, session) && before != session)
    confirmed_by_ = core::session_number::several;
}

void lease_state::claim_or_wait() noexcept {
  while (!claim()) claimed_.wait(true, std::memory_order_relaxed);
}

void lease_state::unclaim() noexcept {
  claimed_.store(false, std::memory_order_release);
  claimed_.notify_all();
}

error lock_lost(const lease_state& a, std::string_view how) {
  return {errc::lock_lost, "the lock " + base::quoted(a.name.view()) + " " + std::string{how}};
}

error lock_lost(const lease_state& a, loss_reason why) {
  return lock_lost(a, "was lost (" + std::string{to_string(why)} + "); stop the work that it protects");
}

}  // namespace rowlock::inline v1::engine
