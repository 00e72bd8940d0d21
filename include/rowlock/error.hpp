#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// The kinds of errors, grouped by what the caller can do about them.
enum class errc {
  // Wrong arguments; nothing was sent to the database.
  invalid_name = 1,  ///< The name of a lock is not allowed: see lock_name.
  invalid_option,    ///< A value is not allowed, or two options contradict each other.
  invalid_url,       ///< The URL of the database cannot be used: see client::connect.
  unsupported,       ///< This strategy, server or build does not support the call.
  // "Busy", from calls that have no other way to report it.
  timed_out,   ///< The wait reached its limit. The library's own calls report this by their result.
  cancelled,   ///< The stop_token was requested to stop.
  contention,  ///< The call gave up: every attempt conflicted, or the wait could not have ended.
  // The lock that was held, or was not.
  lock_lost,       ///< The lock is no longer held: held_lock::why_lost() says why.
  not_held,        ///< There is no lock: the handle is empty, or the thread holds none through the mutex.
  would_deadlock,  ///< The holder holds the lock already and would wait for itself.
  // Begin the transaction again; or, of a lock, release what the caller has, and begin again.
  deadlock,               ///< Transactions or holders waited for each other, and this wait was ended.
  serialization_failure,  ///< Another transaction made a conflicting change.
  stale_snapshot,         ///< The transaction read data before it was granted the lock; the data may be outdated.
  // The connection to the database.
  connection_failed,  ///< The connection could not be opened, or was lost.
  call_timed_out,     ///< The database did not answer within client_options::call_timeout.
  pool_exhausted,     ///< No connection became free in time.
  outcome_unknown,    ///< The reply was lost: the call may have taken effect, or may yet. Look before you repeat it.
  // The state of the database.
  schema_missing,     ///< There are no tables: call client::migrate, or run `rowlock migrate`.
  schema_older,       ///< The tables are of an older rowlock: call client::migrate, or run `rowlock migrate`.
  schema_newer,       ///< The tables no longer serve this rowlock: use a newer one.
  permission_denied,  ///< The role lacks a privilege; the sentence quotes the database.
  // The state of the client.
  client_closed,            ///< The client was closed or destroyed.
  used_after_fork,          ///< The client belongs to the parent process: make one in the child.
  wrong_transaction_state,  ///< The caller's transaction cannot be used: none, another database's, read-only or failed.
  database_error            ///< Any other error of the database.
};

/// Returns the name of the enumerator, for logs and metrics; error_category().message() returns a sentence.
ROWLOCK_EXPORT std::string_view to_string(errc code) noexcept;

/// Returns the error category of `errc`; its name is "rowlock".
ROWLOCK_EXPORT const std::error_category& error_category() noexcept;

/// Makes a std::error_code, so that `e.code() == errc::lock_lost` compares.
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

namespace detail {
struct error_access;
}  // namespace detail

/// The exception that rowlock throws for every failure, apart from std::bad_alloc.
///
/// code() is the kind of error. what() is a sentence that names the input or the command to run. is_retryable(),
/// connection_is_unusable() and outcome_is_unknown() say what the caller may do next. (The idea is from libpqxx 8,
/// whose exceptions answer "can I still use this connection?")
///
/// "Busy" is not an error: the try forms report it by their result.
///
/// Guarantee: copying never throws.
class ROWLOCK_EXPORT error : public std::system_error {
 public:
  /// Makes an error with the usual answers for `code`, for programs that test their own error handling.
  error(errc code, const std::string& sentence);
  // No moves: an exception that was moved from must still answer.
  error(const error&) noexcept = default;             ///< Copies; both then give the same answers.
  error& operator=(const error&) noexcept = default;  ///< Copies; both then give the same answers.
  ~error() override = default;

  /// Returns the sentence alone: the general text of code() is not repeated after it.
  const char* what() const noexcept override;
  /// Whether the same call may succeed if it is repeated.
  bool is_retryable() const noexcept;
  /// Whether the connection is unusable from now on.
  ///
  /// A client has already discarded its own connection. If the connection is yours, open another one.
  bool connection_is_unusable() const noexcept;
  /// Whether the statement may have taken effect, or may take effect later.
  ///
  /// \warning Do not simply repeat the statement. A client resolves the outcome of its own statements.
  bool outcome_is_unknown() const noexcept;
  /// Returns the driver's own error number; 0 if there is none.
  ///
  /// For SQLite it is the extended result code.
  int native_code() const noexcept;
  /// Returns the SQLSTATE, which is valid while this object exists: five characters on servers, empty elsewhere.
  std::string_view sqlstate() const noexcept;

 private:
  friend struct detail::error_access;
  struct detail_t;
  error(errc code, std::shared_ptr<const detail_t> detail);
  std::shared_ptr<const detail_t> detail_;
};

static_assert(std::is_nothrow_copy_constructible_v<error>);

}  // namespace rowlock::inline v1

template <>
struct std::is_error_code_enum<rowlock::errc> : std::true_type {};

#endif  // ROWLOCK_BEFORE_CXX20
