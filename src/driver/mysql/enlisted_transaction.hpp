#pragma once

#include <rowlock/transaction.hpp>

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/session.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

/// The caller's own connection, by either connector.
class mysql_caller : public detail::caller_transaction {
 public:
  detail::backend kind() const noexcept override { return detail::backend::mysql; }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override;
  // By statements: Connector/C++'s own functions do not report a failure.
  void commit();
  void roll_back();
  // Also in the connector, which may not report a failure.
  virtual void set_autocommit(bool on) = 0;

 private:
  // Throws an exception that sql_failure_of() explains. Rows are text.
  virtual void send(const std::string& sql, std::vector<row>& to) = 0;
  virtual bool is_closed() const = 0;

  std::vector<row> send(const std::string& sql, const char* doing, bool committing);
  [[noreturn]] void raise(const std::exception& e, const char* doing, bool committing) const;
};

/// A transaction on the caller's connection, which must not be in one. Rolls back at its end unless it was committed.
class callers_own_transaction {
 public:
  explicit callers_own_transaction(mysql_caller& on);
  callers_own_transaction(const callers_own_transaction&) = delete;
  callers_own_transaction& operator=(const callers_own_transaction&) = delete;
  ~callers_own_transaction();

  void commit();

 private:
  mysql_caller& on_;
  bool had_autocommit_ = false;
  bool is_over_ = false;
};

/// Whether the server ended a transaction because of another one, so that it may succeed when it is begun again.
bool is_conflict_of_transactions(int code) noexcept;

class mysql_enlisted final : public enlisted_transaction {
 public:
  /// Both must outlive it.
  mysql_enlisted(caller_transaction& tx, const sheets::enlisted_texts& texts) : tx_{tx}, texts_{texts} {}

  bool keeps_snapshot() override;
  std::int64_t session() const override { return session_; }
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool begin_optimistically(std::string_view installation) override;
  void end_optimistically() override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  class brief_waits;

  std::vector<row> lock(const enlisted_target& at, const take_options& how);
  bool can_wait();
  void require_transaction();
  void change(const enlisted_target& at, std::int64_t version, std::string_view note);

  caller_transaction& tx_;
  const sheets::enlisted_texts& texts_;
  const base::instant begin_ = base::now();
  std::int64_t session_ = 0;
};

}  // namespace rowlock::inline v1::driver
