#include "engine/lease/held_transaction.hpp"

namespace rowlock::inline v1::engine {

// In a child of a fork the connection is the parent's: to close it properly would be to speak on it.
held_transaction::~held_transaction() {
  if (process_.is_foreign()) {
    static_cast<void>(loan_.release());  // NOLINT(bugprone-unused-return-value)
  } else {
    end();
  }
}

void held_transaction::end() noexcept {
  if (!loan_) return;
  was_cut_short_ = hurried_.stop_requested();
  was_cut_short_ || session().looks_alive() ? loan_->discard() : loan_->lose();
  loan_.reset();
}

}  // namespace rowlock::inline v1::engine
