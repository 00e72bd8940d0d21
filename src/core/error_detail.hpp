#pragma once

#include <rowlock/error.hpp>

#include <string>

namespace rowlock::inline v1 {

struct error::detail_t {
  bool retryable = false;
  bool connection_unusable = false;
  bool outcome_unknown = false;
  int native_code = 0;
  std::string sqlstate{};
  std::string sentence{};  ///< what() returns it; set by error_access::make
};

namespace detail {

/// Whether the client itself has ended: it is closed, or belongs to the parent process.
inline bool is_end_of_client(const error& e) noexcept {
  return e.code() == errc::client_closed || e.code() == errc::used_after_fork;
}

/// Drivers make errors here whose answers differ from those of the code alone.
struct error_access {
  using answers = error::detail_t;
  ROWLOCK_EXPORT static error make(errc code, const std::string& sentence, answers a);
  /// The same error, with other answers.
  ROWLOCK_EXPORT static error changed(const error& e, void (*change)(answers&));
  /// The answers of the code alone.
  static answers usual(errc code) noexcept;
};

}  // namespace detail
}  // namespace rowlock::inline v1
