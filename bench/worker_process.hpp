#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "orders.hpp"

namespace bench {

/// Another process of this very program, which takes a lock and lets it go as it is told. It ends with this object.
///
///   take          answers that it begins, and again (at_ns) when it has the lock
///   let_go US     holds it for so many microseconds more, and answers when (at_ns) it began to let go
///   cycle US      takes it and lets it go for so many microseconds, and answers how long it waited each time
///   (waits_ns) count         answers what it did so far (connections, statements), where the orders say that it is
///   counted
class worker_process {
 public:
  /// It is ready when it has answered once.
  explicit worker_process(const orders& what);
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;
  ~worker_process();

  pid_t id() const noexcept { return id_; }
  /// Ends its input, and does not wait for it.
  void stop() const noexcept;

  void tell(std::string_view what) const;
  /// Throws std::runtime_error where it failed, died, or says nothing for a minute.
  answer hear();
  /// Waits that long. Throws where it said something meanwhile.
  void stay_silent_for(std::chrono::milliseconds length);

 private:
  /// false: nothing to read came in that time.
  bool can_read_within(std::chrono::milliseconds patience) const;
  void read_more();

  pid_t id_ = -1;
  int socket_ = -1;
  std::string unread_;
};

}  // namespace bench
