#pragma once

namespace rowlock::inline v1::driver {

/// Counts the connections over TLS, from before they are opened until they are closed. Where they come and go, OpenSSL
/// takes locks of the whole process: when a thread uses it for the first time, and when such a thread ends. The child
/// of a fork inherits these locks as they are, and no thread that could release one: there, a connection over TLS may
/// never be opened.
class tls_use {
 public:
  explicit tls_use(bool is_used) noexcept;
  tls_use(const tls_use&) = delete;
  tls_use& operator=(const tls_use&) = delete;
  ~tls_use();

  /// Whether this process was forked, and not started, while its parent had such connections.
  static bool was_inherited() noexcept;

 private:
  const int count_;
};

}  // namespace rowlock::inline v1::driver
