#pragma once

#include <cstddef>

namespace rowlock::test {

/// How many times the calling thread has used operator new.
std::size_t allocations_of_this_thread() noexcept;

/// What operator new has given to the process and has not got back, as the heap counts it: with what an allocation
/// takes beyond what was asked for. The drivers' libraries, which are written in C, use malloc and are not counted.
std::size_t allocated_bytes() noexcept;

}  // namespace rowlock::test
