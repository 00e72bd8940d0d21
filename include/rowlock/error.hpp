#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// What went wrong, by what the caller can do about it.
enum class errc {
  // The caller's fault; nothing was sent to the database.
  invalid_name = 1,
  invalid_option,
  invalid_url,
  unsupported,
  // Only from calls that cannot answer "busy" by value.
  timed_out,
  cancelled,
  contention,
  // About a lock that was held, or was not.
  lock_lost,
  not_held,
  would_deadlock,
  // Start your transaction again.
  deadlock,
  serialization_failure,
  stale_snapshot,
  // The way to the database.
  connection_failed,
  call_timed_out,
  pool_exhausted,
  outcome_unknown,
  // The state of the database.
  schema_missing,
  schema_older,
  schema_newer,
  permission_denied,
  // The state of the client.
  client_closed,
  used_after_fork,
  wrong_transaction_state,
  database_error
};

/// The category of `errc`; its name is "rowlock".
ROWLOCK_EXPORT const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

namespace detail {
struct error_access;
}  // namespace detail

/// Everything rowlock throws, apart from std::bad_alloc.
///
/// `code()` says what happened, `what()` says it in a sentence that names the input or the command to run, and the
/// three questions say what may be done now. "Busy" is no error: the try forms answer it by value.
/// Copying never throws. (After libpqxx 8, whose exceptions answer "can I still use this connection?")
class ROWLOCK_EXPORT error : public std::system_error {
 public:
  error(errc code, const std::string& sentence);
  // No moves: an exception that was moved from must still answer.
  error(const error&) noexcept = default;
  error& operator=(const error&) noexcept = default;
  ~error() override = default;

  /// The same call may succeed if it is made again.
  bool is_retryable() const noexcept;
  /// The connection it happened on is of no further use. The client has already thrown its own away; for a
  /// connection of yours, open another.
  bool connection_is_unusable() const noexcept;
  /// The statement may have taken effect, or may yet. The client resolves its own; do not simply repeat.
  bool outcome_is_unknown() const noexcept;
  /// The driver's own number; 0 where there is none. For SQLite the extended result code.
  int native_code() const noexcept;
  /// Five characters on servers, empty elsewhere.
  std::string_view sqlstate() const noexcept;

 private:
  friend struct detail::error_access;
  struct detail_t;
  error(errc code, const std::string& sentence, std::shared_ptr<const detail_t> detail);
  std::shared_ptr<const detail_t> detail_;
};

static_assert(std::is_nothrow_copy_constructible_v<error>);

}  // namespace rowlock::inline v1

template <>
struct std::is_error_code_enum<rowlock::errc> : std::true_type {};
