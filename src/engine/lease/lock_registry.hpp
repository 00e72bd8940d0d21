#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "engine/lease/lease_state.hpp"

namespace rowlock::inline v1::engine {

/// All locks of a client, and their holders: only this class decides reentrancy.
class lock_registry {
 public:
  /// false: closed. If it has a holder, `reenter` returns it to that holder. `first` is called before another thread
  /// can lose it, under the mutex: it must be quick and may not call the registry.
  bool add(const lease_ptr& a, const std::function<void()>& first = {});

  /// The lock that this holder holds under this name, if any; the call adds a handle to it. A holder that shares a name
  /// does not hold it exclusively.
  lease_ptr reenter(const lock_name& name, const holder& by, bool alone, base::instant now);

  /// Whether any holder of this client holds this name.
  bool has(const lock_name& name);

  /// Whether `reenter` would return it.
  bool has(const lock_name& name, const holder& by, base::instant now);

  /// Since when this holder holds a lock that a thread without a handle of it would reenter; nullopt: there is no such
  /// lock, or this thread has a handle.
  std::optional<base::instant> joined_since(const lock_name& name, const holder& by, base::instant now);
  /// Waits until the lock of this holder under this name has ended. false: it has not.
  bool has_ended(const lock_name& name, const holder& by, base::instant until, const std::stop_token& stop);

  /// Before it is shared: from now on no holder reenters it alone. false: there are other handles of it, which rely on
  /// that.
  bool begin_to_share(lease_state& a);
  /// It is shared, or is not.
  void end_to_share(lease_state& a);

  /// Takes one handle away. true: it was the last, and the lock is not registered any more.
  bool drop(lease_state& a);

  /// Removes it; its handles remain.
  void remove(lease_state& a);

  /// nullptr: it is not a lock of this client.
  lease_ptr find(std::string_view acquisition);
  std::vector<lease_ptr> all();
  /// Removes all of them; none can be added from now on.
  std::vector<lease_ptr> close();

  /// Calls `look` for each lock of this name, of which at most one is held, like `each`.
  template <class Look>
  void each_of(const lock_name& name, Look look) {
    const auto state = state_.lock();
    const auto [from, to] = state->by_name.equal_range(name.view());
    for (auto at = from; at != to; ++at) look(std::as_const(**at));
  }

  /// Calls `look` for each, under the mutex: it must be quick and may not call the registry.
  template <class Look>
  void each(Look look) {
    const auto state = state_.lock();
    for (const auto& a : state->listed) look(a);
  }

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
    std::size_t operator()(const lease_state* a) const noexcept { return (*this)(a->name.view()); }
  };
  struct equal {
    using is_transparent = void;
    bool operator()(const lease_state* a, const lease_state* b) const noexcept { return a->name == b->name; }
    bool operator()(const lease_state* a, std::string_view name) const noexcept { return a->name.view() == name; }
    bool operator()(std::string_view name, const lease_state* a) const noexcept { return a->name.view() == name; }
  };
  using leases_by_name = std::unordered_multiset<lease_state*, hash, equal>;
  struct contents {
    std::vector<lease_ptr> listed;
    leases_by_name by_name;           // of these
    leases_by_name::node_type spare;  // so that repeated locking and unlocking needs no allocation
    bool is_closed = false;
    std::size_t waiting = 0;  // threads that wait for the end of a lock
  };
  static const lease_ptr* find(const contents& in, const lock_name& name, const holder& by, bool alone,
                               base::instant now);
  static void list_by_name(contents& in, const lease_ptr& a);
  lease_ptr unlist(contents& from, lease_state& a);
  base::guarded<contents> state_;
  std::condition_variable_any ended_;
};

}  // namespace rowlock::inline v1::engine
