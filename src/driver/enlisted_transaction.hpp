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

/// The outcome for a name in the caller's own transaction.
enum class enlisted_result : std::uint8_t {
  locked,    ///< the request succeeded, and the transaction keeps the row locked
  busy,      ///< the name is held
  expired,   ///< the lease is this client's, but has ended
  not_ours,  ///< or another transaction has the row locked just now
  unseen,    ///< not this client's in the transaction's snapshot, which may be old
  old_view,  ///< pinned, but the snapshot is too old to show whether the lease has ended
  elsewhere  ///< the transaction is on another database than the client
};

/// The row of a name, as the caller's own transaction sees it.
struct lock_view {
  enlisted_result what = enlisted_result::busy;
  std::int64_t version = 0;  ///< the row's version, if it is locked
};

/// A name, and the installation it belongs to. The views live as long as the call.
struct enlisted_target {
  std::string_view name;
  std::string_view installation;  ///< the installation of the client
};

/// How a row is taken.
struct take_options {
  std::string_view note{};
  std::string_view released{};  ///< an acquisition that this client has released, if it may still be in the row
  duration wait{};              ///< about how long to wait in the database for a transaction that has locked the row
  /// Whether the transaction with this sign, and no other, keeps the released acquisition in the row. Set if the
  /// caller's transaction keeps a snapshot, which may be older than the work of others under the released lock. Then
  /// the row is taken only if `pins` answers true; without `wait`, the question is answered without the database.
  std::function<bool(std::int64_t sign)> pins{};
};

/// The caller's own transaction, as its database treats it. A call that does not answer `locked` leaves the transaction
/// as it was. Every function throws `error`: stale_snapshot, serialization_failure and deadlock if the transaction must
/// be begun again, wrong_transaction_state if it cannot be used.
class ROWLOCK_EXPORT enlisted_transaction {
 public:
  enlisted_transaction() = default;
  enlisted_transaction(const enlisted_transaction&) = delete;
  enlisted_transaction& operator=(const enlisted_transaction&) = delete;
  virtual ~enlisted_transaction() = default;

  /// Whether other clients can release a name while it is open.
  virtual bool lets_others_go_on() { return true; }
  /// Whether the first statement takes a snapshot of all data. This question does not take one.
  virtual bool takes_snapshot() { return false; }
  /// Whether it keeps its snapshot until it ends, as far as this can be found out without taking one.
  virtual bool keeps_snapshot() { return takes_snapshot(); }
  /// The server's number of its session. 0: not known; on MySQL it is known once pin() has succeeded or
  /// keeps_snapshot() was asked.
  virtual std::int64_t session() const { return 0; }
  /// Takes a vacant row at once, in databases where no look at the row over the client's pool is needed before. If the
  /// row is not vacant, the transaction keeps no other client from releasing the name, and may take it later. Answers
  /// the version; nullopt: take() answers why.
  virtual std::optional<std::int64_t> take_vacant(const enlisted_target& /*at*/, std::string_view /*note*/) {
    return std::nullopt;
  }

  virtual lock_view take(const enlisted_target& at, const take_options& how) = 0;
  /// Keeps the row of this acquisition locked as it is.
  virtual enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) = 0;
  /// The row for the compare-and-set, if no other transaction can change it meanwhile; nullopt: its version must be
  /// read over the client's pool, before the transaction has seen anything.
  virtual std::optional<lock_view> see(const enlisted_target& /*at*/) { return std::nullopt; }
  /// Begins the compare-and-set, if see() does not. false: the transaction is not in the client's installation.
  virtual bool begin_optimistically(std::string_view /*installation*/) { return true; }
  /// Ends it without set(), and leaves nothing of it behind. Throws if it is not the same transaction any more.
  virtual void end_optimistically() {}
  /// Changes the version if the row is vacant and still has this version.
  virtual enlisted_result set(const enlisted_target& at, std::int64_t version) = 0;
};

/// Some drivers return numbers as text. nullopt: NULL.
ROWLOCK_EXPORT std::optional<std::int64_t> number(const cell& c);

/// The text, or NULL for an empty one.
inline argument or_null(std::string_view words) { return words.empty() ? argument{} : argument{words}; }

/// The bytes in hexadecimal.
ROWLOCK_EXPORT std::string hex(std::string_view bytes);

}  // namespace rowlock::inline v1::driver
