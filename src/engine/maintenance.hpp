#pragma once

#include <thread>
#include <vector>

#include "base/alarm.hpp"
#include "base/time.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::engine {

/// A client's maintenance thread: it runs what is due of its tasks, in the order in which they were added. Nothing that
/// fails there ends it.
class maintenance {
 public:
  class task {
   public:
    task() = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() = default;
    virtual base::instant next_due() = 0;
    /// What is due. Ends soon after the limits do.
    virtual void run(const driver::limits& until) noexcept = 0;
  };

  explicit maintenance(duration call_timeout) : call_timeout_{call_timeout} {}
  maintenance(const maintenance&) = delete;
  maintenance& operator=(const maintenance&) = delete;
  ~maintenance() { stop(); }

  /// Before start(). The task must live until stop().
  void add(task& one) { tasks_.push_back(&one); }
  void start();
  /// By any thread: something is due at `t`.
  void wake_at(base::instant t) noexcept { alarm_.arm(t); }
  void stop() noexcept;

 private:
  void run(const std::stop_token& stop);

  const duration call_timeout_;
  std::vector<task*> tasks_;
  base::alarm alarm_;
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::engine
