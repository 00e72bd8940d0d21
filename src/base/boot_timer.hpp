#pragma once

#include <rowlock/export.hpp>

#include <span>

#include "base/time.hpp"

namespace rowlock::inline v1::base {

/// Wakes one thread at a time of the line that base::now() tells. Any thread may set it, one at a time; the last
/// setting counts.
class ROWLOCK_EXPORT boot_timer {
 public:
  /// Throws error{errc::connection_failed}.
  boot_timer();
  boot_timer(const boot_timer&) = delete;
  boot_timer& operator=(const boot_timer&) = delete;
  ~boot_timer();

  /// What lies in the past fires at once.
  void set(base::instant t) const noexcept;
  /// Returns when it has fired since the last wait.
  void wait() const noexcept;
  /// The same, or when the other side of one of these sockets has hung up.
  void wait(std::span<const int> sockets) const;
  /// The same, or when there is something to read from this one.
  void wait_or_read(int socket) const;

 private:
  void wait(std::span<const int> sockets, short for_what) const;

  int descriptor_;
};

}  // namespace rowlock::inline v1::base
