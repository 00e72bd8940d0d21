#include <rowlock/transaction.hpp>

#include <stdexcept>
#include <utility>

#include "core/error_detail.hpp"
#include "driver/postgresql/errors.hpp"
#include "support/pq_connection.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {

namespace {

/// As a libpqxx that leaves a transaction open where one of several statements has failed, whichever libpqxx is there.
class libpq_transaction final : public detail::caller_transaction {
 public:
  explicit libpq_transaction(PGconn* connection) : connection_{connection} {}

  detail::backend kind() const noexcept override { return detail::backend::postgresql; }
  std::int64_t session() const override { return PQbackendPID(connection_); }
  bool takes_several() const noexcept override { return true; }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override {
    std::vector<std::string> texts;
    texts.reserve(arguments.size());
    std::vector<const char*> values;
    for (const auto& each : arguments) {
      if (const auto* number = std::get_if<std::int64_t>(&each)) {
        values.push_back(texts.emplace_back(std::to_string(*number)).c_str());
      } else if (const auto* words = std::get_if<std::string_view>(&each)) {
        values.push_back(texts.emplace_back(*words).c_str());
      } else {
        values.push_back(nullptr);
      }
    }
    return rows_of(pq_result{values.empty() ? PQexec(connection_, sql.c_str())
                                            : PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()),
                                                           nullptr, values.data(), nullptr, nullptr, 0)});
  }

 private:
  std::vector<row> rows_of(const pq_result& found) {
    const auto status = PQresultStatus(found.raw());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      const char* const state = PQresultErrorField(found.raw(), PG_DIAG_SQLSTATE);
      const std::string_view code = state == nullptr ? "" : state;
      if (code.starts_with("25")) refuse(found, code);
      throw driver::postgresql_error({.message = PQresultErrorMessage(found.raw()),
                                      .sqlstate = code,
                                      .connection_lost = PQstatus(connection_) != CONNECTION_OK},
                                     "PostgreSQL", "locking in the caller's transaction");
    }
    std::vector<row> out;
    for (int i = 0; i < found.rows(); ++i) {
      row& to = out.emplace_back();
      for (int j = 0; j < PQnfields(found.raw()); ++j) {
        auto cell = found.text(i, j);
        to.push_back(cell ? detail::value_out{*std::move(cell)} : detail::value_out{});
      }
    }
    return out;
  }
  [[noreturn]] static void refuse(const pq_result& found, std::string_view code) {
    throw detail::error_access::make(errc::wrong_transaction_state, PQresultErrorMessage(found.raw()),
                                     {.sqlstate = std::string{code}});
  }

  PGconn* connection_;
};

class libpq_caller final : public caller {
 public:
  libpq_caller(const std::string& url, std::string_view isolation) : connection_{url} {
    connection_.run_script("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + std::string{isolation});
  }

  void begin() override { connection_.run_script("BEGIN"); }
  void commit() override { connection_.run_script("COMMIT"); }
  void rollback() override { connection_.run_script("ROLLBACK"); }
  bool takes_several() const override { return true; }
  std::string text(const std::string& sql) override {
    const auto found = connection_.run(sql);
    std::string out;
    for (int i = 0; i < found.rows(); ++i)
      for (int j = 0; j < PQnfields(found.raw()); ++j)
        out.append(out.empty() ? "" : " ").append(found.text(i, j).value_or(""));
    return out;
  }

  transaction_lock lock_in(client& locks, const lock_name& name, const lock_in_options& options,
                           std::stop_token stop) override {
    return *detail::lock_in(tx_, locks, name, std::nullopt, options, stop);
  }
  std::optional<transaction_lock> try_lock_in(client& locks, const lock_name& name,
                                              const lock_in_options& options) override {
    return detail::lock_in(tx_, locks, name, duration::zero(), options, {});
  }
  std::optional<transaction_lock> try_lock_in_for(client& locks, const lock_name& name, std::chrono::milliseconds wait,
                                                  const lock_in_options& options, std::stop_token stop) override {
    return detail::lock_in(tx_, locks, name, wait, options, stop);
  }
  void confirm(const held_lock& held) override { detail::confirm(tx_, held); }
  void confirm(const mutex& m) override { detail::confirm(tx_, m.held()); }

  std::int64_t optimistically(client&, const lock_name&, const counting_body&, const retry_options&) override {
    throw std::logic_error{"not by libpq"};
  }
  void optimistically_without_result(client&, const lock_name&, const silent_body&, const retry_options&) override {
    throw std::logic_error{"not by libpq"};
  }

 private:
  pq_connection connection_;
  libpq_transaction tx_{connection_.raw()};
};

}  // namespace

std::unique_ptr<caller> open_libpq_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<libpq_caller>(url, isolation);
}

}  // namespace rowlock::test
