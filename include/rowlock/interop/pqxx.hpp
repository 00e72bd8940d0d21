#pragma once

/// \file
/// Locks in a transaction of yours, for libpqxx 6.4 to 8. Compiled in your program, against your libpqxx.
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

// Named after the libpqxx that the library was built with: a program that is built with another one does not link,
// where it would crash.
#define ROWLOCK_PQXX_TAG_OF(major, minor) rowlock_was_built_with_libpqxx_##major##_##minor
#define ROWLOCK_PQXX_TAG(major, minor) ROWLOCK_PQXX_TAG_OF(major, minor)
extern "C" ROWLOCK_EXPORT const char ROWLOCK_PQXX_TAG(PQXX_VERSION_MAJOR, PQXX_VERSION_MINOR);
inline const char* libpqxx_of_library() noexcept { return &ROWLOCK_PQXX_TAG(PQXX_VERSION_MAJOR, PQXX_VERSION_MINOR); }

/// What libpqxx threw, as an `error`. `committing`: nobody can tell whether what was lost has been committed.
[[noreturn]] ROWLOCK_EXPORT void rethrow_postgresql(const char* message, std::string_view sqlstate,
                                                    bool connection_lost, bool committing, const char* doing);

[[noreturn]] inline void rethrow_libpqxx(const std::exception& e, pqxx::transaction_base& tx, bool committing) {
  const bool is_lost = is_a<pqxx::broken_connection>(e) || is_a<pqxx::in_doubt_error>(e) || !tx.conn().is_open();
  const auto state = is_a<pqxx::usage_error>(e) ? std::string{"25P01"} : sqlstate_of(e);
  rethrow_postgresql(e.what(), state, is_lost, committing,
                     committing ? "committing" : "locking in a transaction of the caller's");
}

class pqxx_transaction final : public caller_transaction {
 public:
  explicit pqxx_transaction(pqxx::dbtransaction& tx) : tx_{tx}, library_{libpqxx_of_library()} {}

  backend kind() const noexcept override { return backend::postgresql; }
  std::int64_t session() const override { return tx_.conn().backendpid(); }
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
      return rows_of(values.empty() ? tx_.exec(sql) : execute_with(tx_, sql, values));
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

/// Locks the name in your transaction, which lets go of it when it ends: by commit or by rollback. Whoever holds the
/// name by whatever strategy is waited for, without limit; use try_lock_in_for to say how long.
///
/// Adds two statements to the transaction, and leaves its settings as they were. A savepoint of it stays open until the
/// transaction ends; rolling back to an earlier savepoint of yours lets go. The transaction may lock a name again.
///
/// Throws, with the transaction still of use: would_deadlock (this holder has the name by a lock of the client's),
/// wrong_transaction_state (the transaction is on another database or schema than the client, read-only, or has failed
/// before), permission_denied, client_closed. Throws, and the transaction has to be begun again: stale_snapshot (above
/// READ COMMITTED only: what the transaction read before is older than the lock; let lock_in be its first statement.
/// Also where it had to wait for another transaction for more than two seconds), deadlock (each of two transactions
/// waits for what the other has locked), connection_failed.
///
/// Threads: the caller's, as for any use of the transaction. Waiting asks the database again and again; when a
/// transaction has the name it waits in the database. If `stop` fires it throws cancelled, within 200 ms, and the
/// transaction is still of use. A nontransaction does not compile: it would let go at once.
inline transaction_lock lock_in(pqxx::dbtransaction& tx, client& locks, const lock_name& name,
                                const lock_in_options& options = {}, std::stop_token stop = {}) {
  detail::pqxx_transaction bridge{tx};
  return *detail::lock_in(bridge, locks, name, std::nullopt, options, stop);
}

/// The same, tried once. nullopt: somebody has it, and the transaction is as it was.
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(pqxx::dbtransaction& tx, client& locks,
                                                                 const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  detail::pqxx_transaction bridge{tx};
  return detail::lock_in(bridge, locks, name, duration::zero(), options, {});
}

/// The same, waiting at most that long. nullopt also if `stop` fires.
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(pqxx::dbtransaction& tx, client& locks,
                                                              const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  detail::pqxx_transaction bridge{tx};
  return detail::lock_in(bridge, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that the lock is still held, and keeps it from everybody else until your transaction ends, even if its lease
/// ends before: a holder that was paused for too long cannot commit. Call it before the commit, the later the better.
/// Adds two statements. The lock goes on to be renewed. Rolling back to an earlier savepoint of yours undoes it.
///
/// Throws lock_lost (roll back), not_held (an empty handle), unsupported (a lock by for_update: its own transaction
/// would be waited for in vain; do the work in the same transaction, by lock_in), wrong_transaction_state (see
/// lock_in), and with a retryable error where the transaction has to be begun again: stale_snapshot (above READ
/// COMMITTED: it has read something before the lock was had), call_timed_out (somebody else has the row locked).
inline void confirm(pqxx::dbtransaction& tx, const held_lock& held) {
  detail::pqxx_transaction bridge{tx};
  detail::confirm(bridge, held);
}
/// Of the lock that the calling thread holds through it.
inline void confirm(pqxx::dbtransaction& tx, const mutex& m) { confirm(tx, m.held()); }

void lock_in(pqxx::nontransaction&, client&, const lock_name&, const lock_in_options& = {},
             std::stop_token = {}) = delete;
void try_lock_in(pqxx::nontransaction&, client&, const lock_name&, const lock_in_options& = {}) = delete;
template <class Rep, class Period>
void try_lock_in_for(pqxx::nontransaction&, client&, const lock_name&, const std::chrono::duration<Rep, Period>&,
                     const lock_in_options& = {}, std::stop_token = {}) = delete;
void confirm(pqxx::nontransaction&, const held_lock&) = delete;
void confirm(pqxx::nontransaction&, const mutex&) = delete;

/// Optimistic concurrency control around `body(transaction)` or `body(transaction, attempt)`: in one transaction the
/// version of the name is read, the body run, the version changed if it is still the same, and all of it committed. If
/// somebody had the name meanwhile, by whatever strategy, or the server reports a conflict (40001, 40P01), everything
/// is rolled back and done again after a pause. Returns what the body returns.
///
/// The body may be run several times: what it does outside of the transaction is not undone. It must neither commit nor
/// roll back. Its exceptions roll back and pass through, but for those that report a conflict.
/// Throws contention when retry_options say so, would_deadlock, wrong_transaction_state, outcome_unknown (the
/// connection was lost while committing) and what the database says.
template <class Body>
requires detail::body_of<Body, pqxx::work&>
auto optimistically(pqxx::connection& connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  return detail::run_optimistically<pqxx::work&>(
      locks, name, options, [&] { return detail::pqxx_attempt{connection}; }, detail::is_libpqxx_conflict, body);
}

}  // namespace rowlock::inline v1
