#include <rowlock/holder.hpp>

#include <rowlock/error.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/fork_guard.hpp"
#include "base/text.hpp"

namespace rowlock::inline v1 {

namespace {

constexpr std::size_t longest_task = 200;

// The number that people see in top, and a count, since the system uses numbers again.
std::string make_thread_text() {
  static std::atomic<std::uint64_t> threads{0};
  return std::to_string(gettid()) + "." + std::to_string(threads.fetch_add(1, std::memory_order_relaxed));
}

const std::string& thread_text() {
  thread_local std::string text = make_thread_text();
  thread_local std::uint64_t made_in = base::process_generation();
  if (made_in != base::process_generation()) {  // a child's main thread has its parent's copy
    made_in = base::process_generation();
    text = make_thread_text();
  }
  return text;
}

}  // namespace

// The first word keeps the three kinds apart.

holder holder::this_thread() { return holder{"thread " + thread_text()}; }

holder holder::unique() {
  static std::atomic<std::uint64_t> calls{0};
  return holder{"call " + thread_text() + "/" + std::to_string(calls.fetch_add(1, std::memory_order_relaxed))};
}

holder holder::named(std::string_view task_id) {
  if (task_id.empty() || task_id.size() > longest_task || !base::is_plain_text(task_id))
    throw error{errc::invalid_option, "a holder's name must be 1 to 200 bytes of UTF-8 without NUL; this one has " +
                                          std::to_string(task_id.size()) + " bytes"};
  return holder{"task " + std::string{task_id}};
}

}  // namespace rowlock::inline v1
