#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "interrupts.hpp"
#include "messages.hpp"

namespace flash_sale {

/// All worker processes of a run. On the way down they are ended.
///
///   state      entered by   what is next
///   starting   constructor  wait_until_ready: every worker has its connections and threads
///   working    start        finish: every worker has told what happened
///
/// Throws std::runtime_error with what a worker said, or how it died; `interrupted` where a signal came.
class crew {
 public:
  crew(const task& common, const interrupts& signals);
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  void wait_until_ready();
  void start();
  /// Everybody stands still, by SIGSTOP, until resume().
  void pause();
  void resume();
  /// Calls `meanwhile` a few times a second.
  std::vector<message> finish(const std::function<void()>& meanwhile);

 private:
  struct member {
    std::size_t number;
    child_process process;
    std::string unread{};
    std::vector<message> said{};
  };
  /// Waits until everybody has said that many things.
  void listen(std::size_t messages, const std::function<void()>& meanwhile);
  void poll(std::size_t messages, std::chrono::milliseconds patience);
  static void hear(member& from);

  const interrupts& signals_;
  std::vector<member> members_;
};

}  // namespace flash_sale
