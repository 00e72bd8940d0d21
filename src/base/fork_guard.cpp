#include "base/fork_guard.hpp"

#include <pthread.h>

#include <atomic>

namespace rowlock::inline v1::base {

namespace {

std::atomic<std::uint64_t> generation{0};

void in_child() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

std::uint64_t process_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace rowlock::inline v1::base
