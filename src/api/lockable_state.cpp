#include "api/lockable_state.hpp"

#include <rowlock/error.hpp>

#include <string>
#include <utility>

#include "api/inside.hpp"
#include "base/text.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1::detail {

lockable_state::lockable_state(std::shared_ptr<engine::client_core> of, lock_name what, lock_options how)
    : client{std::move(of)}, name{std::move(what)}, options{std::move(how)} {
  core::check(options);
}

bool lockable_state::lock(held_handles& to, duration wait, const std::stop_token& stop, core::sharing share) {
  const holder by = whose();
  auto acquired = inside::held(client, client->acquiring.acquire(name, options, by, wait, stop, share));
  if (!acquired) return false;
  to.add(by, std::move(*acquired));
  return true;
}

void lockable_state::unlock(held_handles& from) noexcept {
  if (client->is_foreign()) return;
  try {
    from.take(whose()).release();
  } catch (const error& e) {
    client->events.release_failed({.name = name, .cause = e});
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease will end
  }
}

const held_lock* lockable_state::latest(held_handles& of) const {
  if (client->is_foreign())
    throw error{errc::used_after_fork,
                "this rowlock mutex belongs to the parent process; make a client and a mutex in the child"};
  return of.latest(whose());
}

void lockable_state::throw_not_held() const {
  throw error{errc::not_held, "the calling thread does not hold " + base::quoted(name.view()) +
                                  " through this mutex; unlock it in the thread that locked it"};
}

}  // namespace rowlock::inline v1::detail
