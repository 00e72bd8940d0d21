#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "command/job.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// Passes on what a command writes to standard output and standard error, and keeps the end of it.
class kept_output {
 public:
  kept_output() = default;
  kept_output(const kept_output&) = delete;
  kept_output& operator=(const kept_output&) = delete;
  ~kept_output() {
    if (worker_.joinable()) end();
  }

  /// For the command.
  job::outputs ends() const noexcept {
    return {.out = passages_[0].in.number(),
            .err = passages_[1].in.number(),
            .readers = {passages_[0].out.number(), passages_[1].out.number()}};
  }

  /// Passes on what is written from now on, in a thread.
  void begin() {
    kept_.clear();
    gives_up_.reset();
    worker_ = std::thread{[this] { pass_on(); }};
  }

  /// Returns the last KiB that was written since begin(), when all of it has been passed on.
  std::string end() {
    over_.ring();
    worker_.join();
    over_.silence();
    return std::move(kept_);
  }

 private:
  /// A pipe from the command to a descriptor of this process.
  struct passage {
    descriptor out;
    descriptor in;
    int to;
  };

  static passage passage_to(int number) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
    return {.out = descriptor{ends[0]}, .in = descriptor{ends[1]}, .to = number};
  }

  // When the command has ended, all that it has written is in the pipes. Processes that it has left may
  // write on without a pause: that is not waited for.
  void pass_on() {
    constexpr int full_pipe = 65536 / 4096 + 1;
    for (int left = full_pipe; left > 0;) {
      const bool is_over = left < full_pipe;
      std::array<pollfd, 3> ready{{{.fd = passages_[0].out.number(), .events = POLLIN, .revents = 0},
                                   {.fd = passages_[1].out.number(), .events = POLLIN, .revents = 0},
                                   {.fd = over_.number(), .events = POLLIN, .revents = 0}}};
      const int count = ::poll(ready.data(), ready.size(), -1);
      if (count < 0) continue;
      bool has_passed = false;
      for (std::size_t i = 0; i < passages_.size(); ++i)
        if (ready.at(i).revents != 0) has_passed = pass_on_from(passages_.at(i)) || has_passed;
      if (is_over && !has_passed) return;
      if (ready.back().revents != 0) --left;
    }
  }

  bool pass_on_from(passage& each) {
    std::array<char, 4096> some{};
    const auto size = ::read(each.out.number(), some.data(), some.size());
    if (size <= 0) return false;
    const std::string_view text{some.data(), static_cast<std::size_t>(size)};
    write(each, text);
    kept_.append(text);
    constexpr std::size_t kept_size = 1024;
    kept_.erase(0, kept_.size() - std::min(kept_.size(), kept_size));
    return true;
  }

  // A reader that takes nothing holds up the command, as it would without a passage, but not this process once the
  // command has ended. If there is no reader any more, the command learns of it likewise. Other texts that cannot be
  // written are lost, as they would be.
  void write(passage& to, std::string_view text) {
    constexpr std::chrono::seconds last_moment{1};
    while (!text.empty()) {
      std::array<pollfd, 2> ready{{{.fd = to.to, .events = POLLOUT, .revents = 0},
                                   {.fd = gives_up_ ? -1 : over_.number(), .events = POLLIN, .revents = 0}}};
      const int count = ::poll(ready.data(), ready.size(), gives_up_ ? milliseconds_until(*gives_up_) : -1);
      if (count == 0) return;
      if (count > 0 && ready[1].revents != 0) gives_up_ = std::chrono::steady_clock::now() + last_moment;
      if (count < 0 || ready[0].revents == 0) continue;
      const auto size = ::write(to.to, text.data(), text.size());
      if (size < 0 && errno == EPIPE) to.out = descriptor{};
      if (size < 0 && errno != EINTR) return;
      if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  std::array<passage, 2> passages_{passage_to(STDOUT_FILENO), passage_to(STDERR_FILENO)};
  const bell over_{};
  std::optional<std::chrono::steady_clock::time_point> gives_up_{};  ///< once it is over
  std::string kept_{};
  std::thread worker_{};
};

}  // namespace rowlock::command
