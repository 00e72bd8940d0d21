#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <rowlock/duration.hpp>
#include <rowlock/error.hpp>
#include <rowlock/export.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>

/// The declarations that lock_in, confirm and optimistically share across all drivers.
///
/// The functions themselves are declared in rowlock/interop/, one header for each driver.
namespace rowlock::inline v1 {

class client;
class held_lock;

/// How lock_in locks a name in the caller's transaction.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct lock_in_options {
  /// The holder that makes the call; absent: the calling thread.
  ///
  /// The holder is used only to detect that it holds the lock through the client already. The transaction would then
  /// wait for itself, so lock_in throws errc::would_deadlock.
  std::optional<rowlock::holder> as{};
  /// A note for readers of the list of locks: UTF-8 without NUL, at most 1,000 bytes.
  ///
  /// Only on MySQL and MariaDB can others see it before the transaction is committed.
  std::string note{};
};

/// How often and how long optimistically() tries.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct retry_options {
  /// The greatest number of attempts, at least 1; an attempt counts even if the body did not run.
  int attempts = 20;
  /// The time after which no further attempt begins; absent: no limit.
  std::optional<duration> within{};
};

/// The number of the present run of optimistically()'s body.
struct attempt {
  int number = 1;  ///< The number of the run, counted from 1.
};

/// A name that is locked until the caller's transaction ends.
///
/// There is nothing to release: commit or rollback frees the name, and this object only records what was locked. (It is
/// not [[nodiscard]], because locking is the purpose of the call. PostgreSQL's pg_advisory_xact_lock is held equally
/// long.)
class transaction_lock {
 public:
  /// Makes a record, as lock_in does.
  transaction_lock(lock_name name, fencing_token token) : name_{std::move(name)}, token_{token} {}

  /// Returns the name that is locked.
  const lock_name& name() const noexcept { return name_; }
  /// Returns the fencing token, which is greater than that of every earlier holder, including holders that rolled back.
  fencing_token token() const noexcept { return token_; }

 private:
  lock_name name_;
  fencing_token token_;
};

namespace detail {

enum class backend : std::uint8_t { postgresql, mysql, sqlite };

using value_in = std::variant<std::monostate, std::int64_t, std::string_view>;
using value_out = std::variant<std::monostate, std::int64_t, std::string>;

/// The caller's transaction, as the library sees it; no driver's type crosses the binary interface.
class ROWLOCK_EXPORT caller_transaction {
 public:
  using row = std::vector<value_out>;
  caller_transaction() = default;
  caller_transaction(const caller_transaction&) = delete;
  caller_transaction& operator=(const caller_transaction&) = delete;
  virtual ~caller_transaction() = default;

  virtual backend kind() const noexcept = 0;
  /// Returns the number that the server gives the session; 0: unknown.
  virtual std::int64_t session() const { return 0; }
  /// Whether the transaction stays open if one of several statements that are executed together fails.
  virtual bool takes_several() const noexcept { return false; }
  /// Executes one statement, or several without arguments; returns the rows of the last one. Throws `error`.
  virtual std::vector<row> execute(const std::string& sql, std::span<const value_in> arguments) = 0;
};

/// Locks a name in the transaction; nullopt: busy, or stopped.
///
/// Without `wait` the wait has no limit, and a requested stop throws errc::cancelled.
ROWLOCK_EXPORT std::optional<transaction_lock> lock_in(caller_transaction& tx, client& locks, const lock_name& name,
                                                       std::optional<duration> wait, const lock_in_options& options,
                                                       const std::stop_token& stop);
ROWLOCK_EXPORT void confirm(caller_transaction& tx, const held_lock& held);

/// The part of optimistically() that is the same for all drivers.
class ROWLOCK_EXPORT optimism {
 public:
  optimism(client& locks, const lock_name& name, const retry_options& options);
  optimism(const optimism&) = delete;
  optimism& operator=(const optimism&) = delete;
  ~optimism();

  rowlock::attempt current() const noexcept;
  /// Reads the version in the transaction; false: a client holds the name.
  bool see(caller_transaction& tx);
  /// Changes the version in the same transaction if it is unchanged; false: it is not.
  bool set(caller_transaction& tx);
  /// Pauses after a conflict and the end of its transaction, or throws errc::contention.
  void again();
  /// Whether another attempt may succeed after this failure.
  static bool is_conflict(const std::exception& e) noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

template <class Body, class Handle>
decltype(auto) call(Body& body, Handle&& handle, attempt which) {
  if constexpr (std::invocable<Body&, Handle, attempt>) {
    return std::invoke(body, std::forward<Handle>(handle), which);
  } else {
    return std::invoke(body, std::forward<Handle>(handle));
  }
}

template <class Body, class Handle>
concept body_of = std::invocable<Body&, Handle> || std::invocable<Body&, Handle, attempt>;

/// Runs the attempts of optimistically().
///
/// `begin()` returns a transaction that rolls back at its end unless it was committed. `is_conflict(exception)` judges
/// what the driver throws.
template <class Handle, class Begin, class IsConflict, class Body>
auto run_optimistically(client& locks, const lock_name& name, const retry_options& options, Begin begin,
                        IsConflict is_conflict, Body& body) {
  using result = std::decay_t<decltype(call(body, std::declval<Handle>(), attempt{}))>;
  for (optimism run{locks, name, options};; run.again()) {
    try {
      auto tx = begin();
      if (!run.see(tx.bridge())) continue;
      if constexpr (std::is_void_v<result>) {
        call(body, tx.handle(), run.current());
        if (run.set(tx.bridge())) return tx.commit();
      } else {
        result value = call(body, tx.handle(), run.current());
        if (!run.set(tx.bridge())) continue;
        tx.commit();
        return value;
      }
    } catch (const std::exception& e) {
      if (!optimism::is_conflict(e) && !is_conflict(e)) throw;
    }
  }
}

}  // namespace detail
}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
