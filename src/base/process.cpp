#include "base/process.hpp"

#include <rowlock/error.hpp>

#include <pthread.h>

#include <atomic>
#include <string>

namespace rowlock::inline v1::base {

namespace {

std::atomic<std::uint64_t> generation{0};

void in_child() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

std::uint64_t process_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void throw_no_thread(const std::system_error& because) {
  throw error{errc::connection_failed, std::string{"a thread of the client cannot be started: "} + because.what() +
                                           "; raise the limit of processes and threads (ulimit -u, TasksMax)"};
}

}  // namespace rowlock::inline v1::base
