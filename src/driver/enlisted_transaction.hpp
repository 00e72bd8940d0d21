#pragma once

#include <rowlock/export.hpp>
#include <rowlock/transaction.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

using caller_transaction = detail::caller_transaction;

/// What a transaction of the caller's finds when it asks for a name.
enum class enlisted_result : std::uint8_t {
  locked,    ///< what was asked for was done, and the transaction keeps the row
  busy,      ///< the name is held
  expired,   ///< the lease is ours, but has ended
  not_ours,  ///< or somebody has the row locked just now
  unseen,    ///< not ours in the transaction's snapshot, which may be old
  old_view,  ///< pinned, but the snapshot is too old to tell whether the lease has ended
  elsewhere  ///< the transaction is on another database than the client
};

/// The row of a name, as a transaction of the caller's sees it.
struct lock_view {
  enlisted_result what = enlisted_result::busy;
  std::int64_t version = 0;  ///< if it is locked
};

/// A name, and the installation it belongs to. Views live as long as the call.
struct enlisted_target {
  std::string_view name;
  std::string_view installation;  ///< the client's
};

/// How a row is taken.
struct take_options {
  std::string_view note{};
  std::string_view released{};  ///< the client's own acquisition, which it has released, if it may still be in the row
  duration wait{};              ///< about how long to wait in the database for a transaction that has the row locked
  /// Given a sign of the transaction: whether that transaction, and no other, keeps what was released in the row. Set
  /// if the transaction keeps a snapshot, which may be older than what others have done under the released lock: then
  /// the row is taken only if `pins` answers true, and without `wait` the database is not asked otherwise.
  std::function<bool(std::int64_t sign)> pins{};
};

/// A transaction of the caller's, as its database treats it. It belongs to the caller: a call that does not answer
/// `locked` leaves it as it was. Everything throws `error`: stale_snapshot, serialization_failure and deadlock if the
/// transaction must be begun again, wrong_transaction_state if it cannot be used.
class ROWLOCK_EXPORT enlisted_transaction {
 public:
  enlisted_transaction() = default;
  enlisted_transaction(const enlisted_transaction&) = delete;
  enlisted_transaction& operator=(const enlisted_transaction&) = delete;
  virtual ~enlisted_transaction() = default;

  /// Whether others can release a name while it is open.
  virtual bool lets_others_go_on() { return true; }
  /// Whether the first statement takes a snapshot of all data. To ask does not take it.
  virtual bool takes_snapshot() { return false; }
  /// Whether it keeps its snapshot until it ends, as far as that can be asked without taking one.
  virtual bool keeps_snapshot() { return takes_snapshot(); }
  /// The server's number of its session. 0: not known, on MySQL before pin() has succeeded or keeps_snapshot() was
  /// asked.
  virtual std::int64_t session() const { return 0; }
  /// Takes a vacant row at once, where that needs no look at the row over the client's pool before: if it is not
  /// vacant, nothing has been done that keeps others from releasing the name, or this transaction from taking it later.
  /// The version; nullopt: take() tells why.
  virtual std::optional<std::int64_t> take_vacant(const enlisted_target& /*at*/, std::string_view /*note*/) {
    return std::nullopt;
  }
  /// Takes a vacant row.
  virtual lock_view take(const enlisted_target& at, const take_options& how) = 0;
  /// Keeps the acquisition's row as it is.
  virtual enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) = 0;
  /// The row for the compare-and-set, where no other transaction can go on beside this one; nullopt: its version is to
  /// be read over the client's pool, before the transaction has seen anything.
  virtual std::optional<lock_view> see(const enlisted_target& /*at*/) { return std::nullopt; }
  /// Begins the compare-and-set, where see() does not. false: it is not in the client's installation.
  virtual bool begin_optimistically(std::string_view /*installation*/) { return true; }
  /// Ends it without set(): after this nothing of it is left. Throws if it is not the same transaction any more.
  virtual void end_optimistically() {}
  /// Changes the version if the row is vacant and still has this one.
  virtual enlisted_result set(const enlisted_target& at, std::int64_t version) = 0;
};

/// Numbers come as text from some drivers. nullopt: NULL.
ROWLOCK_EXPORT std::optional<std::int64_t> number(const cell& c);

/// The text, or NULL for an empty one.
inline argument or_null(std::string_view words) { return words.empty() ? argument{} : argument{words}; }

/// The bytes in hexadecimal.
ROWLOCK_EXPORT std::string hex(std::string_view bytes);

}  // namespace rowlock::inline v1::driver
