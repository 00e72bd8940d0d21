#include <rowlock/mutex.hpp>

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>
#include <rowlock/shared_mutex.hpp>

#include <algorithm>
#include <deque>
#include <utility>

#include "api/inside.hpp"
#include "base/guarded.hpp"
#include "base/text.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1 {

namespace {

struct lockable {
  /// Throws error{errc::invalid_option}.
  lockable(client& from, lock_name what, lock_options how)
      : core{detail::inside::of(from)}, name{std::move(what)}, options{std::move(how)} {
    core::check(options);
  }

  const std::shared_ptr<engine::client_core> core;
  const lock_name name;
  const lock_options options;
};

/// The callers that have locked a mutex in one mode: a handle for every lock(), the latest last; references to them
/// remain valid. More than one holder of an exclusive lock is possible only after a loss: the holder that lost it still
/// has to unlock.
class lockers {
 public:
  explicit lockers(const lockable& what, core::sharing how = {}) : what_{what}, share_{how} {}

  bool lock(duration wait, const std::stop_token& stop = {}) {
    const auto by = caller();
    const auto& core = what_.core;
    auto held = detail::inside::held(core, core->acquiring.acquire(what_.name, what_.options, by, wait, stop, share_));
    if (held) all_.lock()->push_back({.by = by, .lock = std::move(*held)});
    return held.has_value();
  }

  void unlock() noexcept {
    if (what_.core->is_foreign()) return;
    try {
      take_latest().release();
    } catch (const error& e) {
      what_.core->events.release_failed({.name = what_.name, .cause = e});
    } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease will end
    }
  }

  /// The latest handle of the caller; nullptr: it has none.
  const held_lock* latest() {
    if (what_.core->is_foreign())
      throw error{errc::used_after_fork,
                  "this rowlock mutex belongs to the parent process; make a client and a mutex in the child"};
    const auto all = all_.lock();
    const auto* const found = latest_of(*all);
    return found == nullptr ? nullptr : &found->lock;
  }

 private:
  struct entry {
    holder by;
    held_lock lock;  // empty: it was released before later ones
  };

  holder caller() const { return what_.options.as ? *what_.options.as : holder::this_thread(); }

  entry* latest_of(std::deque<entry>& all) const {
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [by = caller()](const entry& e) { return e.lock && e.by == by; });
    return found == all.rend() ? nullptr : &*found;
  }

  held_lock take_latest() {
    const auto all = all_.lock();
    auto* const found = latest_of(*all);
    if (found == nullptr) return {};
    held_lock out = std::move(found->lock);
    while (!all->empty() && !all->back().lock) all->pop_back();
    return out;
  }

  const lockable& what_;
  const core::sharing share_;
  base::guarded<std::deque<entry>> all_;
};

const held_lock& held_of(const lockable& what, const held_lock* found) {
  if (found == nullptr)
    throw error{errc::not_held, "the calling thread does not hold " + base::quoted(what.name.view()) +
                                    " through this mutex; unlock it in the thread that locked it"};
  return *found;
}

}  // namespace

// --- mutex -----------------------------------------------------------------------------------------------------------

struct mutex::state : lockable {
  using lockable::lockable;
  lockers all{*this};
};

mutex::mutex(client& from, lock_name name, lock_options options)
    : state_{std::make_unique<state>(from, std::move(name), std::move(options))} {}

mutex::~mutex() = default;

void mutex::lock() { state_->all.lock(duration::max()); }
bool mutex::lock(std::stop_token stop) { return state_->all.lock(duration::max(), stop); }
bool mutex::try_lock() { return state_->all.lock(duration::zero()); }
bool mutex::try_lock_for_(duration wait) { return state_->all.lock(wait); }
void mutex::unlock() noexcept { state_->all.unlock(); }
const held_lock& mutex::held() const { return held_of(*state_, state_->all.latest()); }
const lock_name& mutex::name() const noexcept { return state_->name; }

// --- shared_mutex ----------------------------------------------------------------------------------------------------

struct shared_mutex::state : lockable {
  using lockable::lockable;
  lockers alone{*this};
  lockers shared{*this, core::one_reader};
};

shared_mutex::shared_mutex(client& from, lock_name name, lock_options options)
    : state_{std::make_unique<state>(from, std::move(name), std::move(options))} {
  core::check(core::one_reader, state_->options);
}

shared_mutex::~shared_mutex() = default;

void shared_mutex::lock() { state_->alone.lock(duration::max()); }
bool shared_mutex::lock(std::stop_token stop) { return state_->alone.lock(duration::max(), stop); }
bool shared_mutex::try_lock() { return state_->alone.lock(duration::zero()); }
bool shared_mutex::try_lock_for_(duration wait) { return state_->alone.lock(wait); }
void shared_mutex::unlock() noexcept { state_->alone.unlock(); }

void shared_mutex::lock_shared() { state_->shared.lock(duration::max()); }
bool shared_mutex::lock_shared(std::stop_token stop) { return state_->shared.lock(duration::max(), stop); }
bool shared_mutex::try_lock_shared() { return state_->shared.lock(duration::zero()); }
bool shared_mutex::try_lock_shared_for_(duration wait) { return state_->shared.lock(wait); }
void shared_mutex::unlock_shared() noexcept { state_->shared.unlock(); }

const held_lock& shared_mutex::held() const {
  const auto* const alone = state_->alone.latest();
  return held_of(*state_, alone != nullptr ? alone : state_->shared.latest());
}

const lock_name& shared_mutex::name() const noexcept { return state_->name; }

}  // namespace rowlock::inline v1
