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

/// What is found in a transaction of the caller's.
enum class finding : std::uint8_t {
  had,       ///< it is as was wished
  busy,      ///< somebody has the name
  expired,   ///< the lease is ours, but has ended
  not_ours,  ///< or somebody has the row locked just now
  unseen,    ///< not ours in the transaction's snapshot, which may be old
  old_view,  ///< pinned, but the snapshot is too old to tell whether the lease has ended
  elsewhere  ///< the transaction is on another database than the client
};

struct sight {
  finding what = finding::busy;
  std::int64_t version = 0;  ///< where it was had
};

/// Where a name is to be had. Views live as long as the call.
struct place_in {
  std::string_view name;
  std::string_view home;  ///< of the client
};

struct wish_in {
  std::string_view note{};
  std::string_view released{};  ///< the client's own acquisition, which it has let go of, if it may still be in the row
  duration wait{};              ///< in the database, where some transaction has the row locked; about
  /// Given a sign of the transaction: whether it is the one, and the only one, that keeps what was released in the row.
  /// Set where it keeps a snapshot, which may be older than what others have done under that lock: then the row is
  /// taken only if so, and without `wait` not asked for otherwise.
  std::function<bool(std::int64_t sign)> pins{};
};

/// A transaction of the caller's, as its database treats it. It belongs to somebody else: whatever is not had leaves it
/// as it was. Everything throws `error`: stale_snapshot, serialization_failure and deadlock where it must be begun
/// again, wrong_transaction_state where it is of no use.
class ROWLOCK_EXPORT guest {
 public:
  guest() = default;
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  virtual ~guest() = default;

  /// Whether others can let go of a name while it is open.
  virtual bool lets_others_go_on() { return true; }
  /// Whether the first statement fixes what it sees of all data. Asking does not fix it.
  virtual bool takes_snapshot() { return false; }
  /// Whether it goes on to see what it has seen once, as far as that can be asked without fixing it.
  virtual bool keeps_snapshot() { return takes_snapshot(); }
  /// The server's number of its session. 0: not known, on MySQL until it has pinned something or told what it keeps.
  virtual std::int64_t session() const { return 0; }
  /// Takes a vacant row.
  virtual sight take(const place_in& at, const wish_in& how) = 0;
  /// Keeps the acquisition's row as it is.
  virtual finding pin(const place_in& at, std::string_view acquisition, duration lease) = 0;
  /// Whether it is where the client is.
  virtual bool is_at(std::string_view home) = 0;
  /// The compare-and-set begins. Where others cannot go on beside it, it answers with the version; elsewhere that is
  /// read over the client's pool, before the transaction has seen anything.
  virtual std::optional<sight> begin_optimistically(const place_in& at) = 0;
  /// Changes the version if the row is vacant, and has that one still.
  virtual finding set(const place_in& at, std::int64_t version) = 0;
};

/// Numbers come as text from some drivers. nullopt: NULL.
ROWLOCK_EXPORT std::optional<std::int64_t> number(const cell& c);

/// The bytes in hexadecimal.
ROWLOCK_EXPORT std::string hex(std::string_view bytes);

}  // namespace rowlock::inline v1::driver
