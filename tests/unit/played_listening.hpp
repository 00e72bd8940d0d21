#pragma once

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/queue/listening_source.hpp"
#include "testkit/eventually.hpp"

// A listening_source with a server that the test plays: no time needs to pass.

namespace rowlock::test {

/// What happens between the two. `Connection`: what is opened on the server.
template <class Connection>
struct played_listening : testing::Test {
  std::shared_ptr<Connection> last() {
    const std::lock_guard lock{mutex};
    return opened.empty() ? nullptr : opened.back();
  }
  int count(const std::string& what) {
    const std::lock_guard lock{mutex};
    return static_cast<int>(std::count(happened.begin(), happened.end(), what));
  }
  void note(const std::string& what) {
    const std::lock_guard lock{mutex};
    happened.push_back(what);
  }
  bool is_begun(int times) {
    return eventually([&] { return count("begin") >= times; });
  }

  std::mutex mutex;
  std::vector<std::shared_ptr<Connection>> opened;
  std::vector<std::string> happened;
  std::vector<std::string> warnings;
  std::vector<std::error_code> polling;
  std::function<void()> on_open = [] {};
  std::function<void()> on_ring = [] {};
  duration longest_call = std::chrono::seconds{5};
};

/// Listens to that server by a Listener on each connection.
template <class Connection, class Listener>
class played_source : public engine::listening_source {
 public:
  using played = played_listening<Connection>;

  played_source(driver::foreign_news how, played& to, duration longest_call)
      : listening_source{how, longest_call}, to_{to} {}
  played_source(const played_source&) = delete;
  played_source& operator=(const played_source&) = delete;
  ~played_source() override { stop(); }

 protected:
  std::unique_ptr<driver::listener> open(const driver::limits& /*until*/) override {
    to_.note("open");
    to_.on_open();
    auto fresh = std::make_shared<Connection>();
    const std::lock_guard lock{to_.mutex};
    to_.opened.push_back(fresh);
    return std::make_unique<Listener>(fresh);
  }
  void ring(const driver::limits& /*until*/) override { to_.on_ring(); }
  played& to() { return to_; }

 private:
  void heard(const std::string& name) override { to_.note("heard " + name); }
  void woken(const driver::limits& /*until*/) override { to_.note("woken"); }
  void falls_asleep() noexcept override { to_.note("sleep"); }
  void began() override { to_.note("begin"); }
  void ended() noexcept override { to_.note("end"); }
  void warn(const std::string& sentence) override {
    to_.note("warn");
    const std::lock_guard lock{to_.mutex};
    to_.warnings.push_back(sentence);
  }
  void polling(const error& why) noexcept override {
    const std::lock_guard lock{to_.mutex};
    to_.polling.push_back(why.code());
  }

  played& to_;
};

}  // namespace rowlock::test
