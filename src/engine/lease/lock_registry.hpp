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

/// All that a client holds, and who holds it: reentrancy is decided here and nowhere else.
class lock_registry {
 public:
  /// false: closed. If it has a holder, `again` answers it to that one. `first` is called before another thread can
  /// lose it, under the mutex: it must be quick and may not call the registry.
  bool add(const lease_ptr& a, const std::function<void()>& first = {});

  /// What this holder has under this name, if it is still held; there is one more handle of it then.
  /// Who shares a name with others has not got it alone.
  lease_ptr again(const lock_name& name, const holder& by, bool alone, base::instant now);

  /// Whether any holder of this client has this name.
  bool has(const lock_name& name);

  /// Whether `again` would give it.
  bool has(const lock_name& name, const holder& by, base::instant now);

  /// Since when this holder has what a thread without a handle of it would get again; nullopt: there is no such thing,
  /// or this thread has a handle.
  std::optional<base::instant> joined_since(const lock_name& name, const holder& by, base::instant now);
  /// Waits until what this holder has under this name has ended. false: it has not.
  bool has_ended(const lock_name& name, const holder& by, base::instant until, const std::stop_token& stop);

  /// Whether there is one handle of it only.
  bool has_one_handle(const lease_state& a);

  /// One handle less. true: it was the last, and the lock is not registered any more.
  bool drop(lease_state& a);

  /// Removes it; its handles stay.
  void remove(lease_state& a);

  /// nullptr: no lock of this client.
  lease_ptr find(std::string_view acquisition);
  std::vector<lease_ptr> all();
  /// All of them; none can be added from now on.
  std::vector<lease_ptr> close();

  /// Calls `look` for each lock of this name, of which at most one is held, as `each` does.
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
    leases_by_name::node_type spare;  // so that to lock and unlock again and again needs no memory
    bool is_closed = false;
    std::size_t waiting = 0;  // for the end of something
  };
  static const lease_ptr* find(const contents& in, const lock_name& name, const holder& by, bool alone,
                               base::instant now);
  static void list_by_name(contents& in, const lease_ptr& a);
  lease_ptr unlist(contents& from, lease_state& a);
  base::guarded<contents> state_;
  std::condition_variable_any ended_;
};

}  // namespace rowlock::inline v1::engine
