#include "core/force_release_machine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rowlock::inline v1::core {

namespace {

using namespace std::chrono_literals;

// Statements of other clients lock a row too, but not for longer: usually, and even on a busy machine.
constexpr duration usual_statement = 100ms;
constexpr duration longest_statement = 1s;

// Whether it certainly has another token than the one to free. A transaction whose token is not known has a token
// greater than the one committed when it locked the row.
bool is_spared(const lock_owner& what, std::optional<fencing_token> only) {
  if (!only) return false;
  return what.token != fencing_token{} ? what.token != *only : *only <= what.committed;
}

}  // namespace

force_release_machine::action force_release_machine::saw(std::optional<lock_owner> found, base::instant now) {
  const bool is_still = found && meant_ && found->is_still(*meant_);  // even if its lease has ended
  if (was_asked_to_end_ && !is_still) return action::freed;
  // If a row changes between the two reads of a look, the look shows no client that pins it.
  const bool was_pinned = meant_ && meant_->is_committed && meant_->session;
  if (found) was_missed_ = false;
  if (!found && was_pinned && !std::exchange(was_missed_, true)) return action::look_again;
  if (!found || (!is_still && is_spared(*found, only_))) {
    // A transaction that was seen for so short a time was a single statement of another client.
    const bool was_statement = meant_ && !meant_->is_committed && now - since_ < usual_statement;
    return !meant_ || was_statement ? action::nothing_to_free : action::freed;
  }
  if (!meant_ || found->session != meant_->session || found->committed != meant_->committed) {
    since_ = now;
    was_asked_to_end_ = false;
  }
  meant_ = std::move(found);
  return meant_->is_committed ? action::free_lease_now : was_not_freed(now);
}

force_release_machine::action force_release_machine::was_not_freed(base::instant now) {
  const duration seen_for = now - since_;
  if (was_asked_to_end_ && now >= deadline_) return action::not_ended;
  if (!meant_->session && seen_for >= std::min<duration>(longest_statement, call_timeout_ / 2))
    return action::unknown_session;
  if (meant_->session && seen_for >= usual_statement && !std::exchange(was_asked_to_end_, true))
    return action::end_session_now;
  return action::look_again;
}

}  // namespace rowlock::inline v1::core
