#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "messages.hpp"
#include "testkit/child_process.hpp"
#include "worker.hpp"

namespace flash_sale {

namespace test = rowlock::test;

/// The user wants it to end: thrown so that everything is cleared away first.
struct interrupted {
  int signal = 0;
};

/// While this object lives, SIGINT, SIGTERM and SIGHUP wait in a descriptor. Construct it before any thread starts.
class interrupts {
 public:
  interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  ~interrupts();

  /// Readable when a signal has come.
  int descriptor() const noexcept { return descriptor_.get(); }
  /// Throws `interrupted` if one has.
  void check() const;

 private:
  sigset_t before_{};
  test::file_descriptor descriptor_;
};

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
    explicit member(std::size_t place) : number{place}, process{worker_role} {}

    std::size_t number;
    test::child_process process;
    std::vector<message> said{};
  };
  /// Waits until everybody has said that many things.
  void listen(std::size_t messages, const std::function<void()>& meanwhile);
  void poll(std::size_t messages, std::chrono::milliseconds patience);
  static void hear(member& from);

  const interrupts& signals_;
  std::deque<member> members_;
};

}  // namespace flash_sale
