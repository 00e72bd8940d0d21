#include <rowlock/sweeper.hpp>

#include "api/inside.hpp"
#include "recipes/sweeper_loop.hpp"

namespace rowlock::inline v1 {

struct sweeper::state : recipes::sweeper_loop {
  using sweeper_loop::sweeper_loop;
};

sweeper::sweeper(client& of, sweeper_options options)
    : state_{std::make_unique<state>(detail::inside::of(of), options)} {
  state_->start();
}

// In a child of a fork it is left alone for good: its thread is not there to be joined.
sweeper::~sweeper() {
  if (state_->is_foreign()) (void)state_.release();
}

std::size_t sweeper::sweep_once() { return state_->sweep_once(); }

sweeper_statistics sweeper::statistics() const {
  return state_->is_foreign() ? sweeper_statistics{} : state_->statistics();
}

void sweeper::stop() noexcept {
  if (!state_->is_foreign()) state_->stop();
}

}  // namespace rowlock::inline v1
