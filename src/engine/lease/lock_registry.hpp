#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.hpp"
#include "engine/lease/lease_state.hpp"

namespace rowlock::inline v1::engine {

/// All that a client holds, and who holds it: reentrancy is decided here and nowhere else.
class lock_registry {
 public:
  /// false: closed. With `reentrant`, `again` answers it to its holder. `first` is called before another thread can
  /// lose it, under the mutex: it must be quick and may not call the registry.
  bool add(const lease_ptr& a, bool reentrant, const std::function<void()>& first = {});

  /// What this holder has under this name, if it is still held; there is one more handle of it then.
  lease_ptr again(const lock_name& name, const holder& by, base::instant now);

  /// Whether any holder of this client has this name.
  bool has(const lock_name& name);

  /// Whether `again` would give it.
  bool has(const lock_name& name, const holder& by, base::instant now);

  /// One handle less. true: it was the last, and the lock is not registered any more.
  bool drop(lease_state& a);

  /// Removes it; its handles stay.
  void remove(lease_state& a);

  /// nullptr: no lock of this client.
  lease_ptr find(std::string_view acquisition);
  std::vector<lease_ptr> all();
  /// All of them; none can be added from now on.
  std::vector<lease_ptr> close();

  /// Calls `look` for each, under the mutex: it must be quick and may not call the registry.
  template <class Look>
  void each(Look look) {
    const auto state = state_.lock();
    for (const auto& a : state->listed) look(a);
  }

 private:
  struct contents;
  static const lease_ptr* find(const contents& in, const lock_name& name, const holder& by, base::instant now);
  struct contents {
    std::vector<lease_ptr> listed;
    std::unordered_map<std::string, lease_ptr> by_holder;
    bool is_closed = false;
  };
  static lease_ptr unlist(contents& from, lease_state& a);
  base::guarded<contents> state_;
};

}  // namespace rowlock::inline v1::engine
