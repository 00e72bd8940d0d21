#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <rowlock/error.hpp>
#include <rowlock/interop/mysql.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error_detail.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/mysql/connector_cpp.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/mysql/values.hpp"

namespace rowlock::inline v1 {

namespace driver {

namespace {

constexpr int no_connection = 2006;
constexpr int only_reads = 1792;

/// A connection of the caller's.
class mysql_caller final : public detail::caller_transaction {
 public:
  explicit mysql_caller(sql::Connection& of) : connection_{of} {}

  detail::backend kind() const noexcept override { return detail::backend::mysql; }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override {
    std::vector<row> out;
    calling_out("locking in the caller's transaction", false,
                [&] { execute_text(connection_, with_literals(sql, arguments), out); });
    return out;
  }
  // By a statement: the connection's own function does not report a failure.
  void commit() {
    std::vector<row> none;
    calling_out("committing", true, [&] { execute_text(connection_, "COMMIT", none); });
  }

 private:
  template <class Call>
  void calling_out(const char* doing, bool committing, Call call) try {
    call();
  } catch (const sql::SQLException&) {
    rethrow(doing, committing);
  }

  // If its owner has closed the connection, the exception has no number.
  [[noreturn]] void rethrow(const char* doing, bool committing) try { throw; } catch (const sql::SQLException& e) {
    const auto failure = sql_failure_of(e).value_or(sql_failure{});
    if (failure.code == only_reads)
      throw error{errc::wrong_transaction_state,
                  "this transaction is read-only, and a lock writes; begin it READ WRITE"};
    const bool is_lost = is_about_mysql_connection(failure.code) || connection_.isClosed();
    throw mysql_error({.code = is_lost && failure.code == 0 ? no_connection : failure.code,
                       .sqlstate = failure.sqlstate,
                       .message = failure.message,
                       .connection_lost = is_lost,
                       .writing = committing},
                      "MySQL", doing);
  }

  sql::Connection& connection_;
};

}  // namespace

}  // namespace driver

namespace detail {

std::optional<transaction_lock> lock_in(sql::Connection& tx, client& locks, const lock_name& name,
                                        std::optional<duration> wait, const lock_in_options& options,
                                        const std::stop_token& stop) {
  driver::mysql_caller bridge{tx};
  return lock_in(bridge, locks, name, wait, options, stop);
}

namespace {
constexpr int transaction_is_open = 1568;
}

struct mysql_attempt::state {
  explicit state(sql::Connection& of) : connection{of}, bridge{of} {}
  sql::Connection& connection;
  driver::mysql_caller bridge;
  bool had_autocommit = false;
  bool is_over = false;
};

// The mode of the next transaction can be set only outside of a transaction.
mysql_attempt::mysql_attempt(sql::Connection& connection) : state_{std::make_unique<state>(connection)} {
  try {
    state_->bridge.execute("SET TRANSACTION READ WRITE", {});
  } catch (const error& e) {
    if (e.native_code() != transaction_is_open) throw;
    throw error{errc::wrong_transaction_state,
                "a transaction is open on this connection, and optimistically() begins its own; commit it or roll it "
                "back first"};
  }
  const auto autocommit = state_->bridge.execute("SELECT @@autocommit", {}).at(0).at(0);
  state_->had_autocommit = driver::number(autocommit) != 0;
  if (state_->had_autocommit) connection.setAutoCommit(false);
}

// To switch autocommit on commits, so everything is rolled back before.
mysql_attempt::~mysql_attempt() {
  try {
    if (!state_->is_over) state_->connection.rollback();
    if (state_->had_autocommit) state_->connection.setAutoCommit(true);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then the session is over
  }
}

sql::Connection& mysql_attempt::handle() const noexcept { return state_->connection; }
caller_transaction& mysql_attempt::bridge() noexcept { return state_->bridge; }

void mysql_attempt::commit() {
  state_->bridge.commit();
  state_->is_over = true;
}

bool mysql_attempt::is_conflict(const std::exception& e) noexcept {
  const auto* found = dynamic_cast<const sql::SQLException*>(&e);
  return found != nullptr && (found->getErrorCode() == 1213 || found->getErrorCode() == 1020);
}

}  // namespace detail

void confirm(sql::Connection& tx, const held_lock& held) {
  driver::mysql_caller bridge{tx};
  detail::confirm(bridge, held);
}

}  // namespace rowlock::inline v1
