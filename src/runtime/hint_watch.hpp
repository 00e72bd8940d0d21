#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "driver/session.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// While anybody waits: a thread that looks for commits of other processes and hints at every change. Its first look is
/// followed by a hint too, so that a change before it is not missed.
class hint_watch {
 public:
  using connect = std::function<std::unique_ptr<driver::session>(const driver::limits&)>;

  /// Without `open` there is nothing to watch.
  hint_watch(connect open, std::function<void()> hint) : open_{std::move(open)}, hint_{std::move(hint)} {}
  hint_watch(const hint_watch&) = delete;
  hint_watch& operator=(const hint_watch&) = delete;
  ~hint_watch() { stop(); }

  /// One who waits.
  class subscription {
   public:
    explicit subscription(hint_watch& to) : to_{to} { to_.enter(); }
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;
    ~subscription() { to_.leave(); }

   private:
    hint_watch& to_;
  };

  void stop() noexcept;

 private:
  struct contents {
    std::size_t waiting = 0;
    bool is_stopped = false;
    std::jthread thread;  // started by the first who waits
  };
  void enter();
  void leave();
  void run(const std::stop_token& stop);
  void watch(const std::stop_token& stop);
  bool pause(duration d, const std::stop_token& stop);

  connect open_;
  std::function<void()> hint_;
  std::condition_variable_any changed_;
  guarded<contents> state_;
};

}  // namespace rowlock::inline v1::runtime
