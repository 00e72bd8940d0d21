#pragma once

#include <cstdint>

namespace rowlock::inline v1::base {

/// Which process this is, counted in forks: what was made under another number belongs to the parent, whose threads,
/// mutexes and connections do not exist here.
std::uint64_t process_generation() noexcept;

/// Remembers in which process it was made.
class fork_guard {
 public:
  bool is_foreign() const noexcept { return generation_ != process_generation(); }

 private:
  std::uint64_t generation_ = process_generation();
};

}  // namespace rowlock::inline v1::base
