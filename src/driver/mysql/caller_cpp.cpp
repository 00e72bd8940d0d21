#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <rowlock/interop/mysql.hpp>

#include <memory>

#include "driver/mysql/connector.hpp"
#include "driver/mysql/enlisted_transaction.hpp"

namespace rowlock::inline v1 {

namespace driver {

namespace {

class connector_cpp_caller final : public mysql_caller {
 public:
  explicit connector_cpp_caller(sql::Connection& of) : connection_{of} {}

  void set_autocommit(bool on) override { connection_.setAutoCommit(on); }

 private:
  void send(const std::string& sql, std::vector<row>& to) override { execute_text(connection_, sql, to); }
  bool is_closed() const override { return connection_.isClosed(); }

  sql::Connection& connection_;
};

}  // namespace

}  // namespace driver

namespace detail {

inline namespace ROWLOCK_CONNECTOR_TAG {

std::optional<transaction_lock> lock_in(sql::Connection& tx, client& locks, const lock_name& name,
                                        std::optional<duration> wait, const lock_in_options& options,
                                        const std::stop_token& stop) {
  driver::connector_cpp_caller bridge{tx};
  return lock_in(bridge, locks, name, wait, options, stop);
}

struct mysql_attempt::state {
  explicit state(sql::Connection& of) : connection{of}, bridge{of} {}
  sql::Connection& connection;
  driver::connector_cpp_caller bridge;
  driver::callers_own_transaction transaction{bridge};
};

mysql_attempt::mysql_attempt(sql::Connection& connection) : state_{std::make_unique<state>(connection)} {}
mysql_attempt::~mysql_attempt() = default;

sql::Connection& mysql_attempt::handle() const noexcept { return state_->connection; }
caller_transaction& mysql_attempt::bridge() noexcept { return state_->bridge; }
void mysql_attempt::commit() { state_->transaction.commit(); }

bool mysql_attempt::is_conflict(const std::exception& e) noexcept {
  const auto* found = dynamic_cast<const sql::SQLException*>(&e);
  return found != nullptr && driver::is_conflict_of_transactions(found->getErrorCode());
}

void confirm(sql::Connection& tx, const held_lock& held) {
  driver::connector_cpp_caller bridge{tx};
  confirm(bridge, held);
}

}  // namespace ROWLOCK_CONNECTOR_TAG

}  // namespace detail

}  // namespace rowlock::inline v1
