#include "core/acquire_machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace rowlock::inline v1::core {

acquire_machine::step acquire_machine::begin(bool others_wait_here, bool is_held_here) noexcept {
  is_notified_ = others_wait_here || is_held_here;  // no attempt was made yet
  return {is_notified_ ? action::enter_queue : action::try_once};
}

acquire_machine::step acquire_machine::after_first_try(base::instant now) const noexcept {
  return {backoff_.is_over(now) ? action::give_up : action::enter_queue};
}

acquire_machine::step acquire_machine::in_queue(base::instant now, const position& at) noexcept {
  if (backoff_.is_over(now)) return {action::give_up};  // the reply to a statement sent now could come too late
  if (at.has_ticket) return sleep_with(at);
  if (const auto until = sleeps_here_until(at); until > now) return {action::sleep, until};
  if (!at.is_first || at.yields_to_other_clients) return {action::take_ticket};
  if (tries_briefly_ && next_brief_try_ && !had_ticket_) {
    if (*next_brief_try_ > now && !is_notified_)
      return {action::sleep, std::min(*next_brief_try_, backoff_.deadline())};
    ++brief_tries_;
    return {action::try_once};
  }
  return {takes_handovers() && is_notified_ ? action::try_once : action::take_ticket};
}

// Together they take about as long as a wait with a ticket: less would not outlast a grant to another client's ticket,
// and clients that alternate would always need tickets.
void acquire_machine::set_next_brief_try(bool is_held_by_lease, base::instant now) noexcept {
  constexpr auto longest_pause = std::chrono::milliseconds{1};
  constexpr std::array pauses{0, 0, 1, 1, 2, 2, 4};  // as multiples of the time that the first attempt took
  if (brief_tries_ == 0) first_try_ = std::min<duration>(backoff_.waited(now), longest_pause);
  next_brief_try_.reset();
  if (is_held_by_lease && brief_tries_ < pauses.size())
    next_brief_try_ = base::later(now, pauses.at(brief_tries_) * first_try_);
}

base::instant acquire_machine::sleeps_here_until(const position& at) const noexcept {
  if (!takes_handovers()) return base::instant::min();
  return std::min(at.is_first ? at.held_here_until : handover_patience_until_, backoff_.deadline());
}

// A try follows the ticket, and looks first.
acquire_machine::step acquire_machine::after_ticket(const position& at) noexcept {
  had_ticket_ = true;
  if (at.is_first && at.has_ticket) return {action::look};
  return sleep_with(at);
}

acquire_machine::step acquire_machine::sleep_with(const position& at) const noexcept {
  const bool has_to_do = at.is_first || !at.has_ticket;
  return {action::sleep, has_to_do ? backoff_.next_try() : backoff_.deadline()};
}

acquire_machine::step acquire_machine::after_sleep(base::instant now, wakeup by) noexcept {
  is_notified_ = by == wakeup::hinted;
  const bool is_over = by == wakeup::stopped || (by == wakeup::out_of_time && backoff_.is_over(now));
  return {is_over ? action::give_up : action::look};
}

acquire_machine::step acquire_machine::after_look(base::instant now, const position& at) noexcept {
  const bool was_behind = !std::exchange(is_first_, at.is_first);
  if (!at.is_first || !at.has_ticket) return in_queue(now, at);
  if (was_behind) backoff_.begin_again(now);
  if (const auto until = sleeps_here_until(at); until > now) return {action::sleep, until};
  return {action::try_once};
}

void acquire_machine::failed(const error& e, bool is_stopped, bool holds_by_transaction, base::instant now,
                             double jitter) {
  const bool was_stopped = e.code() == errc::cancelled && is_stopped;
  // The holder of all transactions may be waiting for this very call to give up.
  const bool is_pool_full = e.code() == errc::pool_exhausted && holds_by_transaction;
  if (!was_stopped && (is_pool_full || (!e.is_retryable() && !e.outcome_is_unknown()))) throw error{e};
  is_notified_ = false;
  next_brief_try_.reset();
  backoff_.failed(e, now, jitter);
}

void acquire_machine::throw_if_never_answered(duration call_timeout, bool cuts_calls) const {
  const auto& failure = backoff_.failure();
  if (failure && backoff_.given() < call_timeout) {
    if (failure->code() == errc::pool_exhausted) return;
    if (failure->code() == errc::call_timed_out && cuts_calls) return;
  }
  backoff_.throw_if_never_answered();
}

}  // namespace rowlock::inline v1::core
