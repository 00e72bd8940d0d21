#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// Locks in your own transactions, for libpqxx 6.4, and 7.7.1 to 8.
///
/// The header is compiled in your program, against your libpqxx. A program does not link if that libpqxx differs in
/// major or minor version from the one that the library was built with.
#include <rowlock/interop/detail/libpqxx.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <pqxx/pqxx>

#include <rowlock/client.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/transaction.hpp>

namespace rowlock::inline v1 {

namespace detail {

/// Throws an exception of libpqxx as an `error`.
///
/// `committing`: if the connection was lost, it is unknown whether the transaction was committed.
[[noreturn]] ROWLOCK_EXPORT void rethrow_postgresql(const char* message, std::string_view sqlstate,
                                                    bool connection_lost, bool committing, const char* doing);

[[noreturn]] inline void rethrow_libpqxx(const std::exception& e, pqxx::transaction_base& tx, bool committing) {
  const bool is_lost = is_a<pqxx::broken_connection>(e) || is_a<pqxx::in_doubt_error>(e) || !tx.conn().is_open();
  const auto state = is_a<pqxx::usage_error>(e) ? std::string{"25P01"} : sqlstate_of(e);
  rethrow_postgresql(e.what(), state, is_lost, committing,
                     committing ? "committing" : "locking in the caller's transaction");
}

class pqxx_transaction final : public caller_transaction {
 public:
  explicit pqxx_transaction(pqxx::dbtransaction& tx) : tx_{tx}, library_{libpqxx_of_library()} {}

  backend kind() const noexcept override { return backend::postgresql; }
  std::int64_t session() const override { return tx_.conn().backendpid(); }
  bool takes_several() const noexcept override { return libpqxx_takes_several; }
  std::vector<row> execute(const std::string& sql, std::span<const value_in> arguments) override {
    std::vector<std::string> texts;
    texts.reserve(arguments.size());
    std::vector<const char*> values;
    for (const auto& each : arguments) {
      if (const auto* number = std::get_if<std::int64_t>(&each)) {
        texts.push_back(std::to_string(*number));
      } else if (const auto* words = std::get_if<std::string_view>(&each)) {
        texts.emplace_back(*words);
      } else {
        values.push_back(nullptr);
        continue;
      }
      values.push_back(texts.back().c_str());
    }
    try {
      const bool are_several = sql.find(';') != std::string::npos;
      return rows_of(are_several ? tx_.exec(sql) : execute_with(tx_, sql, values));
    } catch (const std::exception& e) {
      rethrow_libpqxx(e, tx_, false);
    }
  }

 private:
  static std::vector<row> rows_of(const pqxx::result& found) {
    std::vector<row> out;
    out.reserve(static_cast<std::size_t>(found.size()));
    for (const auto& line : found) {
      row& to = out.emplace_back();
      for (const auto& field : line)
        to.push_back(field.is_null() ? value_out{} : value_out{std::string{field.c_str()}});
    }
    return out;
  }

  pqxx::dbtransaction& tx_;
  const char* const library_;
};

/// One attempt of optimistically().
class pqxx_attempt {
 public:
  explicit pqxx_attempt(pqxx::connection& connection) : tx_{connection}, bridge_{tx_} {}
  pqxx_attempt(const pqxx_attempt&) = delete;
  pqxx_attempt& operator=(const pqxx_attempt&) = delete;
  ~pqxx_attempt() = default;

  pqxx::work& handle() noexcept { return tx_; }
  caller_transaction& bridge() noexcept { return bridge_; }
  void commit() try { tx_.commit(); } catch (const std::exception& e) {
    rethrow_libpqxx(e, tx_, true);
  }

 private:
  pqxx::work tx_;
  pqxx_transaction bridge_;
};

inline bool is_libpqxx_conflict(const std::exception& e) {
  const auto state = sqlstate_of(e);
  return state == "40001" || state == "40P01";
}

}  // namespace detail

/// Locks a name in your transaction until it commits or rolls back, waiting without a time limit.
///
/// The call waits for every holder of the name, whatever its strategy. Use try_lock_in_for() to limit the wait. A
/// transaction may lock a name again.
///
/// Guarantee: the lock does not expire. It ends with the transaction, so nothing is committed after it was lost.
///
/// The transaction: if the name is free, the call adds one round trip (two with libpqxx 6). It leaves the transaction's
/// settings unchanged, and a savepoint open until the transaction ends. If you roll back to a savepoint from before the
/// call, the lock is released. From the second call on a connection on, the statements are prepared there, with names
/// that begin with "rowlock: ", unless client_options::transaction_pooling is set.
///
/// Throws, and the transaction can still be used:
/// - errc::would_deadlock: this holder holds the lock through the client
/// - errc::wrong_transaction_state: the transaction is on another database or schema than the client, is read-only, or
///   has failed before
/// - errc::cancelled: `stop` was requested; thrown within 200 ms
/// - errc::permission_denied, errc::client_closed
///
/// Throws, and the transaction must be begun again:
/// - errc::stale_snapshot: above READ COMMITTED only. The transaction read data before it was granted the lock: let
///   lock_in() be its first statement. Also thrown if the call had to wait for another transaction for more than two
///   seconds.
/// - errc::deadlock: each of two transactions waits for rows that the other has locked
/// - errc::connection_failed
///
/// Threads: the call runs in the caller's thread, as every use of the transaction does. While a lease holds the name,
/// the call waits in the queue (above READ COMMITTED it polls); while a transaction holds it, the call waits in the
/// database.
///
/// A pqxx::nontransaction does not compile: it would release the lock at once.
inline transaction_lock lock_in(pqxx::dbtransaction& tx, client& locks, const lock_name& name,
                                const lock_in_options& options = {}, std::stop_token stop = {}) {
  detail::pqxx_transaction bridge{tx};
  return *detail::lock_in(bridge, locks, name, std::nullopt, options, stop);
}

/// Tries once to lock a name in your transaction; nullopt means that another holder holds it.
///
/// If the result is nullopt, the transaction is as it was. Otherwise as lock_in().
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(pqxx::dbtransaction& tx, client& locks,
                                                                 const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  detail::pqxx_transaction bridge{tx};
  return detail::lock_in(bridge, locks, name, duration::zero(), options, {});
}

/// Locks a name in your transaction, waiting for at most `wait`; nullopt means that it was not granted in time, or that
/// `stop` was requested.
///
/// Otherwise as lock_in().
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(pqxx::dbtransaction& tx, client& locks,
                                                              const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  detail::pqxx_transaction bridge{tx};
  return detail::lock_in(bridge, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that a lock is still held, and keeps it from all other clients until your transaction ends.
///
/// Call it before the commit, as late as possible. If you roll back to a savepoint from before the call, it is undone.
///
/// Guarantee: a holder that was paused for too long cannot commit; once confirmed, the lock is kept until the
/// transaction ends, even if its lease ends before.
///
/// The transaction: the call adds one round trip (two with libpqxx 6), and prepares its statement as lock_in() does.
/// The lock is still renewed.
///
/// Throws:
/// - errc::lock_lost: roll back
/// - errc::not_held: the handle is empty
/// - errc::unsupported: the lock is held by for_update, and this transaction would wait for the lock's own transaction.
///   Do the work in the same transaction, with lock_in().
/// - errc::wrong_transaction_state: see lock_in()
/// - errc::stale_snapshot, and the transaction must be begun again: above READ COMMITTED only; it read data before the
///   lock was granted
/// - errc::call_timed_out, and the transaction must be begun again: another transaction keeps the row locked
inline void confirm(pqxx::dbtransaction& tx, const held_lock& held) {
  detail::pqxx_transaction bridge{tx};
  detail::confirm(bridge, held);
}
/// Confirms the lock that the calling thread holds through the mutex; see the other confirm().
inline void confirm(pqxx::dbtransaction& tx, const mutex& m) { confirm(tx, m.held()); }

void lock_in(pqxx::nontransaction&, client&, const lock_name&, const lock_in_options& = {},
             std::stop_token = {}) = delete;
void try_lock_in(pqxx::nontransaction&, client&, const lock_name&, const lock_in_options& = {}) = delete;
template <class Rep, class Period>
void try_lock_in_for(pqxx::nontransaction&, client&, const lock_name&, const std::chrono::duration<Rep, Period>&,
                     const lock_in_options& = {}, std::stop_token = {}) = delete;
void confirm(pqxx::nontransaction&, const held_lock&) = delete;
void confirm(pqxx::nontransaction&, const mutex&) = delete;

/// Runs a function in a transaction and commits it only if no other client held the name meanwhile; otherwise runs it
/// again.
///
/// The call is optimistic concurrency control around `body(transaction)` or `body(transaction, attempt)`, where
/// transaction is a pqxx::work. One transaction reads the version of the name, runs the body, changes the version if it
/// is unchanged, and commits. If another client held the name meanwhile, with any strategy, or the server reports a
/// conflict (40001, 40P01), everything is rolled back and repeated after a pause. Returns the result of the body.
///
/// \warning The body may run several times: its effects outside of the transaction are not undone. It must neither
/// commit nor roll back. It must not acquire the name through any client, because it would wait for itself.
///
/// Throws:
/// - errc::contention: all attempts that retry_options allow have failed
/// - errc::would_deadlock: the calling thread holds the lock through the client, or the body acquires it there
/// - errc::wrong_transaction_state: see lock_in()
/// - errc::outcome_unknown: the connection was lost during the commit
/// - exceptions of the body, after a rollback, unless they report a conflict
/// - errors that the database reports
template <class Body>
requires detail::body_of<Body, pqxx::work&>
auto optimistically(pqxx::connection& connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  return detail::run_optimistically<pqxx::work&>(
      locks, name, options, [&] { return detail::pqxx_attempt{connection}; }, detail::is_libpqxx_conflict, body);
}

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
