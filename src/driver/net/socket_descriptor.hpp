#pragma once

#include <rowlock/export.hpp>

namespace rowlock::inline v1::driver {

/// A second descriptor of a socket, which the owner of the first descriptor cannot close. Close-on-exec.
class ROWLOCK_EXPORT socket_descriptor {
 public:
  /// Throws error{errc::connection_failed}.
  explicit socket_descriptor(int of);
  socket_descriptor(const socket_descriptor&) = delete;
  socket_descriptor& operator=(const socket_descriptor&) = delete;
  ~socket_descriptor();

  int number() const noexcept { return number_; }
  bool has_hung_up() const noexcept;

 private:
  int number_;
};

}  // namespace rowlock::inline v1::driver
