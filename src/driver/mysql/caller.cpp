#include "driver/mysql/caller.hpp"

#include <rowlock/error.hpp>

#include "core/error_detail.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/mysql/connector.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/mysql/values.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr int no_connection = 2006;
constexpr int only_reads = 1792;
constexpr int transaction_is_open = 1568;

}  // namespace

std::vector<row> mysql_caller::execute(const std::string& sql, std::span<const detail::value_in> arguments) {
  return send(with_literals(sql, arguments), "locking in the caller's transaction", false);
}

void mysql_caller::commit() { send("COMMIT", "committing", true); }

std::vector<row> mysql_caller::send(const std::string& sql, const char* doing, bool committing) {
  std::vector<row> out;
  try {
    send(sql, out);
  } catch (const std::exception& e) {
    raise(e, doing, committing);
  }
  return out;
}

// If its owner has closed the connection, the exception of Connector/C++ has no number.
void mysql_caller::raise(const std::exception& e, const char* doing, bool committing) const {
  const auto failure = sql_failure_of(e);
  if (!failure) throw;
  if (failure->code == only_reads)
    throw error{errc::wrong_transaction_state, "this transaction is read-only, and a lock writes; begin it READ WRITE"};
  const bool is_lost = is_about_mysql_connection(failure->code) || is_closed();
  throw mysql_error({.code = is_lost && failure->code == 0 ? no_connection : failure->code,
                     .sqlstate = failure->sqlstate,
                     .message = failure->message,
                     .connection_lost = is_lost,
                     .writing = committing},
                    "MySQL", doing);
}

// The mode of the next transaction can be set only outside of a transaction.
callers_own_transaction::callers_own_transaction(mysql_caller& on) : on_{on} {
  try {
    on_.execute("SET TRANSACTION READ WRITE", {});
  } catch (const error& e) {
    if (e.native_code() != transaction_is_open) throw;
    throw error{errc::wrong_transaction_state,
                "a transaction is open on this connection, and optimistically() begins its own; commit it or roll it "
                "back first"};
  }
  had_autocommit_ = number(on_.execute("SELECT @@autocommit", {}).at(0).at(0)) != 0;
  if (had_autocommit_) on_.set_autocommit(false);
}

// To switch autocommit on commits, so everything is rolled back before.
callers_own_transaction::~callers_own_transaction() {
  try {
    if (!is_over_) on_.roll_back();
    if (had_autocommit_) on_.set_autocommit(true);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then the session is over
  }
}

void callers_own_transaction::commit() {
  on_.commit();
  is_over_ = true;
}

bool is_conflict_of_transactions(int code) noexcept {
  return code == mysql_code::deadlock || code == mysql_code::overtaken;
}

}  // namespace rowlock::inline v1::driver
