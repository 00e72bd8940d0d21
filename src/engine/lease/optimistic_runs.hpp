#pragma once

#include <rowlock/error.hpp>
#include <rowlock/lock_name.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "base/text.hpp"

namespace rowlock::inline v1::engine {

/// The names for which threads run optimistically(). A lock of the same name that such a thread acquires by this client
/// is a conflict with itself, and from the fourth attempt on a wait for itself.
class optimistic_runs {
 public:
  void begin(const lock_name& name) {
    all_.lock()->emplace_back(std::this_thread::get_id(), name);
    ++number_;
  }
  void end(const lock_name& name) noexcept {
    const auto all = all_.lock();
    const auto found = std::find(all->begin(), all->end(), run{std::this_thread::get_id(), name});
    if (found == all->end()) return;
    all->erase(found);
    --number_;
  }
  /// Throws would_deadlock if this thread runs it for that name.
  void refuse(const lock_name& name) const {
    if (number_ == 0) return;  // a thread sees its own
    const auto all = all_.lock();
    if (std::find(all->begin(), all->end(), run{std::this_thread::get_id(), name}) == all->end()) return;
    throw error{errc::would_deadlock, "this thread runs optimistically() for " + base::quoted(name.view()) +
                                          ", and would wait for itself; acquire no lock of that name in its body"};
  }

 private:
  using run = std::pair<std::thread::id, lock_name>;
  std::atomic<std::size_t> number_{0};
  mutable base::guarded<std::vector<run>> all_;
};

}  // namespace rowlock::inline v1::engine
