#pragma once

#include <cstdint>

namespace rowlock::inline v1::runtime {

/// Which process this is, counted in forks: what was made under another number belongs to the parent, whose threads,
/// mutexes and connections do not exist here.
std::uint64_t process_generation() noexcept;

}  // namespace rowlock::inline v1::runtime
