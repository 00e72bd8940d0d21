#pragma once

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

/// \file
/// What lock_in, confirm and optimistically have in common. They are declared for each driver in rowlock/interop/.
namespace rowlock::inline v1 {

class client;
class held_lock;

/// How a name is locked in a transaction of the caller's. The order of the members is part of the interface.
struct lock_in_options {
  /// Who wants it: the calling thread, unless said otherwise. Only used to notice that this very holder has the name
  /// already by a lock of the client's, for which the transaction would wait in vain (would_deadlock).
  std::optional<rowlock::holder> as{};
  /// For people who list locks: UTF-8 without NUL, at most 1,000 bytes. Only MySQL and MariaDB let others see it before
  /// the transaction is committed.
  std::string note{};
};

/// How long optimistically() goes on. The order of the members is part of the interface.
struct retry_options {
  /// How often it is tried at most, whether or not the body gets to run: at least 1.
  int attempts = 20;
  /// No further attempt is begun when this time is over.
  std::optional<duration> within{};
};

/// The how-manieth run of the body it is.
struct attempt {
  int number = 1;  ///< from 1
};

/// A name that is locked for as long as the caller's transaction lasts. There is nothing to release: commit or rollback
/// lets go, and the object only remembers what was had. (Not [[nodiscard]]: to lock is what it is called for.)
class transaction_lock {
 public:
  /// As lock_in does.
  transaction_lock(lock_name name, fencing_token token) : name_{std::move(name)}, token_{token} {}

  /// What was locked.
  const lock_name& name() const noexcept { return name_; }
  /// Greater than that of every earlier holder, those who rolled back included.
  fencing_token token() const noexcept { return token_; }

 private:
  lock_name name_;
  fencing_token token_;
};

namespace detail {

enum class backend : std::uint8_t { postgresql, mysql, sqlite };

using value_in = std::variant<std::monostate, std::int64_t, std::string_view>;
using value_out = std::variant<std::monostate, std::int64_t, std::string>;

/// The caller's transaction, as the library sees it: no driver's type crosses its binary interface.
class ROWLOCK_EXPORT caller_transaction {
 public:
  using row = std::vector<value_out>;
  caller_transaction() = default;
  caller_transaction(const caller_transaction&) = delete;
  caller_transaction& operator=(const caller_transaction&) = delete;
  virtual ~caller_transaction() = default;

  virtual backend kind() const noexcept = 0;
  /// The server's number of its session; 0: not known.
  virtual std::int64_t session() const { return 0; }
  /// One statement. Throws `error`.
  virtual std::vector<row> execute(const std::string& sql, std::span<const value_in> arguments) = 0;
};

/// Without `wait`: as long as it takes; throws cancelled on `stop`. nullopt: busy, or stopped.
ROWLOCK_EXPORT std::optional<transaction_lock> lock_in(caller_transaction& tx, client& locks, const lock_name& name,
                                                       std::optional<duration> wait, const lock_in_options& options,
                                                       const std::stop_token& stop);
ROWLOCK_EXPORT void confirm(caller_transaction& tx, const held_lock& held);

/// What optimistically() does that is no driver's business.
class ROWLOCK_EXPORT optimism {
 public:
  optimism(client& locks, const lock_name& name, const retry_options& options);
  optimism(const optimism&) = delete;
  optimism& operator=(const optimism&) = delete;
  ~optimism();

  rowlock::attempt current() const noexcept;
  /// Reads the version, in the transaction. false: somebody has the name.
  bool see(caller_transaction& tx);
  /// The compare-and-set, in the same transaction. false: somebody had the name since.
  bool set(caller_transaction& tx);
  /// After a conflict, when the transaction has ended: waits a little, or throws contention.
  void again();
  /// Whether another attempt may do what this one could not.
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

/// `begin()` gives a transaction that is rolled back at its end, unless it was committed. `is_conflict(exception)` is
/// asked about what the driver throws.
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
