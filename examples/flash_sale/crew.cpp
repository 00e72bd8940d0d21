#include "crew.hpp"

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace flash_sale {
namespace {

constexpr std::size_t ready = 1;
constexpr std::size_t finished = 2;
constexpr std::chrono::milliseconds between_looks{200};

}  // namespace

crew::crew(const task& common, const interrupts& signals) : signals_{signals} {
  members_.reserve(common.sale.processes);
  for (std::size_t number = 0; number < common.sale.processes; ++number) {
    task own = common;
    own.process = number;
    members_.push_back({.number = number, .process = child_process{"--worker"}});
    members_.back().process.write(to_line(own) + '\n');
  }
}

crew::~crew() {
  // All at once, before the members' destructors wait for them one by one.
  for (auto& each : members_) each.process.stop();
}

void crew::wait_until_ready() {
  listen(ready, [] {});
}

void crew::start() {
  for (auto& each : members_) each.process.write("go\n");
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
    if (const auto end = each.process.wait(); end != "exit status 0")
      throw std::runtime_error{fmt::format("worker {} ended with {}", each.number, end)};
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
  if (!from.process.read(from.unread))
    throw std::runtime_error{fmt::format("worker {} died: {}", from.number, from.process.wait())};
  for (auto end = from.unread.find('\n'); end != std::string::npos; end = from.unread.find('\n')) {
    from.said.push_back(nlohmann::json::parse(from.unread.substr(0, end)).get<message>());
    from.unread.erase(0, end + 1);
    if (const auto& error = from.said.back().error; !error.empty())
      throw std::runtime_error{fmt::format("worker {}: {}", from.number, error)};
  }
}

}  // namespace flash_sale
