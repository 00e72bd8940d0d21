#pragma once

#include <rowlock/held_lock.hpp>
#include <rowlock/holder.hpp>

#include <deque>

#include "base/guarded.hpp"

namespace rowlock::inline v1::detail {

/// A handle for every lock() of a mutex, the latest last; references to them stay valid. More than one holder of what
/// one has alone only after a loss: the late one still has to unlock.
class held_handles {
 public:
  void add(const holder& by, held_lock lock);
  /// The latest handle of this holder; empty where it has none.
  held_lock take(const holder& by);
  /// nullptr: it has none.
  const held_lock* latest(const holder& by);

 private:
  struct entry {
    holder by;
    held_lock lock;  // empty: taken out, while there are later ones
  };
  static entry* latest(std::deque<entry>& of, const holder& by);

  base::guarded<std::deque<entry>> all_;
};

}  // namespace rowlock::inline v1::detail
