#include "command/kept_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace rowlock::command {

namespace {

constexpr std::size_t kept_size = 1024;

}  // namespace

kept_output::passage kept_output::passage_to(int number) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  return {.out = descriptor{ends[0]}, .in = descriptor{ends[1]}, .to = number};
}

kept_output::kept_output() : passages_{passage_to(STDOUT_FILENO), passage_to(STDERR_FILENO)} {}

kept_output::~kept_output() {
  if (worker_.joinable()) end();
}

job::outputs kept_output::ends() const noexcept {
  return {.out = passages_[0].in.number(), .err = passages_[1].in.number()};
}

void kept_output::begin() {
  kept_.clear();
  worker_ = std::thread{[this] { pass_on(); }};
}

std::string kept_output::end() {
  over_.ring();
  worker_.join();
  over_.silence();
  return std::move(kept_);
}

// When the command has ended, all that it has written is in the pipes. Processes that it has left may
// write on without a pause: that is not waited for.
void kept_output::pass_on() {
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

bool kept_output::pass_on_from(const passage& each) {
  std::array<char, 4096> some{};
  const auto size = ::read(each.out.number(), some.data(), some.size());
  if (size <= 0) return false;
  const std::string_view text{some.data(), static_cast<std::size_t>(size)};
  write_all(each.to, text);  // or the text is lost, as it would be without a passage
  kept_.append(text);
  kept_.erase(0, kept_.size() - std::min(kept_.size(), kept_size));
  return true;
}

}  // namespace rowlock::command
