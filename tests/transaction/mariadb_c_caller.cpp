#include <mysql.h>
#include <rowlock/interop/mariadb_c.hpp>

#include <stdexcept>
#include <utility>

#include "testkit/url.hpp"
#include "transaction/caller_by.hpp"

namespace rowlock::test {

namespace {

using connection_ptr = std::unique_ptr<MYSQL, void (*)(MYSQL*)>;
using rows = std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)>;

connection_ptr connect(const server_address& to) {
  connection_ptr out{mysql_init(nullptr), mysql_close};
  const auto protocol = MYSQL_PROTOCOL_TCP;
  ::mysql_options(out.get(), MYSQL_OPT_PROTOCOL, &protocol);
  ::mysql_options(out.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (mysql_real_connect(out.get(), to.host.c_str(), to.user.c_str(), to.password.c_str(), to.database.c_str(),
                         to.port.value_or(3306), nullptr, 0) == nullptr)
    throw std::runtime_error{::mysql_error(out.get())};
  return out;
}

class mariadb_c_caller : public caller_by<mariadb_c_caller> {
 public:
  mariadb_c_caller(const server_address& to, std::string_view isolation) : connection_{connect(to)} {
    statement("SET SESSION TRANSACTION ISOLATION LEVEL " + std::string{isolation});
  }

  void begin() override { statement("SET autocommit = 0"); }
  void commit() override {
    statement("COMMIT");
    statement("SET autocommit = 1");
  }
  void rollback() override {
    statement("ROLLBACK");
    statement("SET autocommit = 1");
  }
  std::string text(const std::string& sql) override {
    check(mysql_real_query(handle(), sql.data(), sql.size()), sql);
    const rows found{mysql_store_result(handle()), mysql_free_result};
    std::string out;
    if (!found) {
      check(static_cast<int>(mysql_errno(handle())), sql);
      return out;
    }
    while (auto* const row = mysql_fetch_row(found.get()))
      for (unsigned i = 0; i < mysql_num_fields(found.get()); ++i)
        out.append(out.empty() ? "" : " ").append(row[i] == nullptr ? "" : row[i]);
    return out;
  }

  MYSQL* handle() const noexcept { return connection_.get(); }

 private:
  void check(int status, const std::string& sql) {
    if (status != 0) throw std::runtime_error{sql + ": " + ::mysql_error(handle())};
  }

  connection_ptr connection_;
};

}  // namespace

std::unique_ptr<caller> open_mysql_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<mariadb_c_caller>(parse_address(url), isolation);
}

}  // namespace rowlock::test
