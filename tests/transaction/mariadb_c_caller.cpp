#include <mysql.h>
#include <rowlock/interop/mariadb_c.hpp>

#include <stdexcept>
#include <utility>

#include "testkit/url.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {

namespace {

using handle = std::unique_ptr<MYSQL, void (*)(MYSQL*)>;
using rows = std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)>;

handle connect(const server_address& to) {
  handle out{mysql_init(nullptr), mysql_close};
  const auto protocol = MYSQL_PROTOCOL_TCP;
  ::mysql_options(out.get(), MYSQL_OPT_PROTOCOL, &protocol);
  ::mysql_options(out.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (mysql_real_connect(out.get(), to.host.c_str(), to.user.c_str(), to.password.c_str(), to.database.c_str(),
                         to.port.value_or(3306), nullptr, 0) == nullptr)
    throw std::runtime_error{::mysql_error(out.get())};
  return out;
}

class mariadb_c_caller : public caller {
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
    check(mysql_real_query(raw(), sql.data(), sql.size()), sql);
    const rows found{mysql_store_result(raw()), mysql_free_result};
    std::string out;
    if (!found) {
      check(static_cast<int>(mysql_errno(raw())), sql);
      return out;
    }
    while (auto* const row = mysql_fetch_row(found.get()))
      for (unsigned i = 0; i < mysql_num_fields(found.get()); ++i)
        out.append(out.empty() ? "" : " ").append(row[i] == nullptr ? "" : row[i]);
    return out;
  }

  transaction_lock lock_in(client& locks, const lock_name& name, const lock_in_options& options,
                           std::stop_token stop) override {
    return rowlock::lock_in(raw(), locks, name, options, std::move(stop));
  }
  std::optional<transaction_lock> try_lock_in(client& locks, const lock_name& name,
                                              const lock_in_options& options) override {
    return rowlock::try_lock_in(raw(), locks, name, options);
  }
  std::optional<transaction_lock> try_lock_in_for(client& locks, const lock_name& name, std::chrono::milliseconds wait,
                                                  const lock_in_options& options, std::stop_token stop) override {
    return rowlock::try_lock_in_for(raw(), locks, name, wait, options, std::move(stop));
  }
  void confirm(const held_lock& held) override { rowlock::confirm(raw(), held); }
  void confirm(const mutex& m) override { rowlock::confirm(raw(), m); }

  std::int64_t optimistically(client& locks, const lock_name& name, const counting_body& body,
                              const retry_options& options) override {
    return rowlock::optimistically(
        raw(), locks, name, [&](MYSQL* /*tx*/, attempt which) { return body(which); }, options);
  }
  void optimistically_without_result(client& locks, const lock_name& name, const silent_body& body,
                                     const retry_options& options) override {
    rowlock::optimistically(
        raw(), locks, name, [&](MYSQL* /*tx*/) { body(); }, options);
  }

 private:
  void check(int status, const std::string& sql) {
    if (status != 0) throw std::runtime_error{sql + ": " + ::mysql_error(raw())};
  }
  MYSQL* raw() const noexcept { return connection_.get(); }

  handle connection_;
};

}  // namespace

std::unique_ptr<caller> open_mysql_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<mariadb_c_caller>(parse_address(url), isolation);
}

}  // namespace rowlock::test
