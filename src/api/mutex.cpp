#include <rowlock/mutex.hpp>

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <deque>
#include <utility>

#include "api/inside.hpp"
#include "base/guarded.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1 {

struct mutex::state {
  state(std::shared_ptr<engine::client_core> of, lock_name what, lock_options how)
      : client{std::move(of)}, name{std::move(what)}, options{std::move(how)} {}

  const std::shared_ptr<engine::client_core> client;
  const lock_name name;
  const lock_options options;
  struct entry {
    holder by;
    held_lock lock;  // empty: taken out, while there are later ones
  };
  // A handle for every lock(), the latest last; held() refers to them. More than one holder only after a loss: the late
  // one still has to unlock.
  base::guarded<std::deque<entry>> held;

  holder whose() const { return options.as ? *options.as : holder::this_thread(); }
  bool lock(duration wait, const std::stop_token& stop);
  held_lock take(const holder& by);
  static entry* latest(std::deque<entry>& of, const holder& by);
};

bool mutex::state::lock(duration wait, const std::stop_token& stop) {
  const holder by = whose();
  auto acquired = detail::inside::held(client, client->acquiring.acquire(name, options, by, wait, stop));
  if (!acquired) return false;
  held.lock()->push_back({.by = by, .lock = std::move(*acquired)});
  return true;
}

mutex::state::entry* mutex::state::latest(std::deque<entry>& of, const holder& by) {
  const auto found = std::find_if(of.rbegin(), of.rend(), [&](const entry& e) { return e.lock && e.by == by; });
  return found == of.rend() ? nullptr : &*found;
}

// The latest handle of this holder; empty where it has none.
held_lock mutex::state::take(const holder& by) {
  const auto all = held.lock();
  auto* const found = latest(*all, by);
  if (found == nullptr) return {};
  held_lock last = std::move(found->lock);
  while (!all->empty() && !all->back().lock) all->pop_back();
  return last;
}

mutex::mutex(client& from, lock_name name, lock_options options) {
  core::check(options);
  state_ = std::make_unique<state>(detail::inside::of(from), std::move(name), std::move(options));
}

mutex::~mutex() = default;

void mutex::lock() { state_->lock(duration::max(), {}); }
bool mutex::lock(std::stop_token stop) { return state_->lock(duration::max(), stop); }
bool mutex::try_lock() { return state_->lock(duration::zero(), {}); }
bool mutex::try_lock_for_(duration wait) { return state_->lock(wait, {}); }

void mutex::unlock() noexcept {
  if (state_->client->is_foreign()) return;
  try {
    state_->take(state_->whose()).release();
  } catch (const error& e) {
    state_->client->events.release_failed({.name = state_->name, .cause = e});
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease will end
  }
}

const held_lock& mutex::held() const {
  if (state_->client->is_foreign())
    throw error{errc::used_after_fork,
                "this rowlock mutex belongs to the parent process; make a client and a mutex in the child"};
  const auto all = state_->held.lock();
  const auto* const found = state::latest(*all, state_->whose());
  if (found == nullptr)
    throw error{errc::not_held, "the calling thread does not hold \"" + std::string{name().view()} +
                                    "\" through this mutex; unlock it in the thread that locked it"};
  return found->lock;
}

const lock_name& mutex::name() const noexcept { return state_->name; }

}  // namespace rowlock::inline v1
