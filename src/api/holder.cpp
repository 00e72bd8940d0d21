#include <rowlock/holder.hpp>

#include <rowlock/error.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/process.hpp"
#include "base/text.hpp"

namespace rowlock::inline v1 {

namespace {

constexpr std::size_t longest_task = 200;

/// The thread's number as top shows it, and a count, since the system uses numbers again.
struct thread_number {
  static std::uint64_t next() noexcept {
    static std::atomic<std::uint64_t> threads{0};
    return threads.fetch_add(1, std::memory_order_relaxed);
  }

  std::uint64_t made_in = base::process_generation();
  pid_t seen = gettid();
  std::uint64_t count = next();
};

// The last objects of a thread that are destroyed may unlock a mutex.
thread_local bool is_ending = false;

std::string this_thread_as(std::string_view kind) {
  thread_local thread_number number;
  if (number.made_in != base::process_generation()) number = {};  // a child's main thread has its parent's copy
  constexpr std::size_t usual = 40;
  std::string out;
  out.reserve(usual);
  out.append(kind).append(std::to_string(number.seen)).append(".").append(std::to_string(number.count));
  return out;
}

}  // namespace

// The first word distinguishes the three kinds.

holder holder::this_thread() {
  struct identity {
    std::uint64_t made_in;
    holder same;
    ~identity() { is_ending = true; }
  };
  if (is_ending) return holder{this_thread_as("thread ")};
  thread_local identity mine{base::process_generation(), holder{this_thread_as("thread ")}};
  if (mine.made_in != base::process_generation()) {
    mine.made_in = base::process_generation();
    mine.same = holder{this_thread_as("thread ")};
  }
  return mine.same;
}

holder holder::unique() {
  static std::atomic<std::uint64_t> calls{0};
  auto text = this_thread_as("call ");
  text.append("/").append(std::to_string(calls.fetch_add(1, std::memory_order_relaxed)));
  return holder{std::move(text)};
}

holder holder::named(std::string_view task_id) {
  if (task_id.empty() || task_id.size() > longest_task || !base::is_plain_text(task_id))
    throw error{errc::invalid_option, "a holder's name must be 1 to 200 bytes of UTF-8 without NUL; this one has " +
                                          std::to_string(task_id.size()) + " bytes"};
  return holder{"task " + std::string{task_id}};
}

}  // namespace rowlock::inline v1
