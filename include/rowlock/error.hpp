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
  invalid_name = 1,  ///< of a lock: see lock_name
  invalid_option,    ///< a value that is not allowed, or two that contradict each other
  invalid_url,       ///< of a database: see client::connect
  unsupported,       ///< by this strategy, server or build
  // Only from calls that cannot answer "busy" by value.
  timed_out,   ///< the time to wait was over
  cancelled,   ///< the stop_token fired
  contention,  ///< in vain: conflicts up to the last attempt, or a wait that could not end
  // About a lock that was held, or was not.
  lock_lost,       ///< it was held, and is not any more: held_lock::why_lost says why
  not_held,        ///< there was none: an empty handle, or a mutex of which the thread has none
  would_deadlock,  ///< this very holder has the name, and would wait for itself
  // Start your transaction again.
  deadlock,               ///< the database ended this one of several that waited for each other
  serialization_failure,  ///< somebody else's change came in between
  stale_snapshot,         ///< what the transaction has read is older than the lock
  // The way to the database.
  connection_failed,  ///< not to be had, or lost
  call_timed_out,     ///< no answer within client_options::call_timeout
  pool_exhausted,     ///< all connections were in use for as long as there was time
  outcome_unknown,    ///< the reply was lost, so it may have happened, or may yet: look before you repeat it
  // The state of the database.
  schema_missing,     ///< no tables: client::migrate
  schema_older,       ///< tables of an older rowlock: client::migrate
  schema_newer,       ///< tables that no longer serve this rowlock: use a newer one
  permission_denied,  ///< the database says which
  // The state of the client.
  client_closed,            ///< by client::close, or its end
  used_after_fork,          ///< in the child: make a client of its own
  wrong_transaction_state,  ///< the caller's transaction cannot be used: none, another database's, read-only or failed
  database_error            ///< anything else that the database said
};

/// The category of `errc`; its name is "rowlock".
ROWLOCK_EXPORT const std::error_category& error_category() noexcept;

/// So that `e.code() == errc::lock_lost` compares.
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
  /// With the answers that are usual for `code`: for programs that test what they do about errors.
  error(errc code, const std::string& sentence);
  // No moves: an exception that was moved from must still answer.
  error(const error&) noexcept = default;             ///< Both then answer alike.
  error& operator=(const error&) noexcept = default;  ///< Both then answer alike.
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
