#include <rowlock/error.hpp>
#include <rowlock/interop/mariadb_c.hpp>

#include <memory>

#include "driver/mysql/connector.hpp"
#include "driver/mysql/enlisted_transaction.hpp"

namespace rowlock::inline v1 {

namespace driver {

namespace {

class mariadb_c_caller final : public mysql_caller {
 public:
  explicit mariadb_c_caller(st_mysql* of) : connection_{of} {
    if (of == nullptr) throw error{errc::wrong_transaction_state, "the MYSQL* is null; pass an open connection"};
  }

  st_mysql* handle() const noexcept { return connection_; }
  void set_autocommit(bool on) override { execute(on ? "SET autocommit=1" : "SET autocommit=0", {}); }

 private:
  void send(const std::string& sql, std::vector<row>& to) override { execute_text(connection_, sql, to); }
  // A failure of this connector always has a number.
  bool is_closed() const override { return false; }

  st_mysql* const connection_;
};

}  // namespace

}  // namespace driver

namespace detail {

std::optional<transaction_lock> lock_in(st_mysql* tx, client& locks, const lock_name& name,
                                        std::optional<duration> wait, const lock_in_options& options,
                                        const std::stop_token& stop) {
  driver::mariadb_c_caller bridge{tx};
  return lock_in(bridge, locks, name, wait, options, stop);
}

struct mariadb_c_attempt::state {
  state(st_mysql* of, bool& conflict) : bridge{of}, was_in_conflict{conflict} {}
  driver::mariadb_c_caller bridge;
  driver::callers_own_transaction transaction{bridge};
  bool& was_in_conflict;
};

mariadb_c_attempt::mariadb_c_attempt(st_mysql* connection, bool& was_in_conflict)
    : state_{std::make_unique<state>(connection, was_in_conflict)} {}

// Before the rollback, after which the connection does not report it.
mariadb_c_attempt::~mariadb_c_attempt() {
  state_->was_in_conflict = driver::is_conflict_of_transactions(driver::last_failure(handle()));
}

st_mysql* mariadb_c_attempt::handle() const noexcept { return state_->bridge.handle(); }
caller_transaction& mariadb_c_attempt::bridge() noexcept { return state_->bridge; }
void mariadb_c_attempt::commit() { state_->transaction.commit(); }

}  // namespace detail

void confirm(st_mysql* tx, const held_lock& held) {
  driver::mariadb_c_caller bridge{tx};
  detail::confirm(bridge, held);
}

}  // namespace rowlock::inline v1
