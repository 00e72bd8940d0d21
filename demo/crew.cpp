#include "crew.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "testkit/json_line.hpp"

namespace flash_sale {
namespace {

constexpr std::size_t ready = 1;
constexpr std::size_t finished = 2;
constexpr std::chrono::milliseconds between_looks{200};

std::string in_words(const std::optional<test::ending>& end) {
  if (!end) return "nothing: it does not end";
  if (!end->by_signal) return fmt::format("exit status {}", end->number);
  return fmt::format("signal {} ({})", end->number, ::strsignal(end->number));
}

}  // namespace

interrupts::interrupts() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, each);
  if (const int code = ::pthread_sigmask(SIG_BLOCK, &ours, &before_); code != 0)
    throw std::system_error{code, std::generic_category(), "blocking signals"};
  // A worker that died, or a closed terminal, is noticed where it is written to.
  ::signal(SIGPIPE, SIG_IGN);
  descriptor_ = test::file_descriptor{::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (descriptor_.get() < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
}

interrupts::~interrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void interrupts::check() const {
  signalfd_siginfo came{};
  if (::read(descriptor(), &came, sizeof came) == sizeof came) throw interrupted{static_cast<int>(came.ssi_signo)};
}

crew::crew(const task& common, const interrupts& signals) : signals_{signals} {
  for (std::size_t number = 0; number < common.sale.processes; ++number) {
    task own = common;
    own.process = number;
    members_.emplace_back(number).process.send(test::to_line(own));
  }
}

crew::~crew() {
  for (auto& each : members_) {
    each.process.signal(SIGTERM);
    each.process.resume();
  }
  for (auto& each : members_) (void)each.process.wait_for_end(std::chrono::seconds{2});
}

void crew::wait_until_ready() {
  listen(ready, [] {});
}

void crew::start() {
  for (auto& each : members_) each.process.send("go");
}

void crew::pause() {
  for (auto& each : members_) each.process.pause();
}

void crew::resume() {
  for (auto& each : members_) each.process.resume();
}

std::vector<message> crew::finish(const std::function<void()>& meanwhile) {
  listen(finished, meanwhile);
  std::vector<message> results;
  for (auto& each : members_) {
    results.push_back(std::move(each.said.back()));
    if (const auto end = each.process.wait_for_end(); end != test::exited(0))
      throw std::runtime_error{fmt::format("worker {} ended with {}", each.number, in_words(end))};
  }
  return results;
}

void crew::listen(std::size_t messages, const std::function<void()>& meanwhile) {
  const auto has_said_it = [&](const member& each) { return each.said.size() >= messages; };
  auto next_look = std::chrono::steady_clock::now() + between_looks;
  while (!std::all_of(members_.begin(), members_.end(), has_said_it)) {
    poll(messages, between_looks);
    if (std::chrono::steady_clock::now() < next_look) continue;
    meanwhile();
    next_look = std::chrono::steady_clock::now() + between_looks;
  }
}

void crew::poll(std::size_t messages, std::chrono::milliseconds patience) {
  std::vector<pollfd> watched{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const auto& each : members_) {
    // poll() skips negative descriptors: here those of workers that have said all that is expected now.
    const int output = each.said.size() < messages ? each.process.output() : -1;
    watched.push_back({.fd = output, .events = POLLIN, .revents = 0});
  }
  const int count = ::poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
  if (count < 0 && errno != EINTR) throw std::system_error{errno, std::generic_category(), "poll"};
  // First: a signal from the terminal also ends the workers, and is not their fault.
  signals_.check();
  for (std::size_t at = 0; at < members_.size(); ++at)
    if (count > 0 && watched[at + 1].revents != 0) hear(members_[at]);
}

void crew::hear(member& from) {
  if (!from.process.read_some())
    throw std::runtime_error{fmt::format("worker {} died: {}", from.number, in_words(from.process.wait_for_end()))};
  while (const auto line = from.process.next_line()) {
    from.said.push_back(test::from_line<message>(*line));
    if (const auto& error = from.said.back().error; !error.empty())
      throw std::runtime_error{fmt::format("worker {}: {}", from.number, error)};
  }
}

}  // namespace flash_sale
