#pragma once

#include <rowlock/transaction.hpp>

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// A connection of the caller's, by whichever connector.
class mysql_caller : public detail::caller_transaction {
 public:
  detail::backend kind() const noexcept override { return detail::backend::mysql; }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override;
  // By a statement: Connector/C++'s own function does not report a failure.
  void commit();

  virtual void roll_back() = 0;
  virtual void set_autocommit(bool on) = 0;

 private:
  // Throws what sql_failure_of() explains. Rows are text.
  virtual void send(const std::string& sql, std::vector<row>& to) = 0;
  virtual bool is_closed() const = 0;

  std::vector<row> send(const std::string& sql, const char* doing, bool committing);
  [[noreturn]] void raise(const std::exception& e, const char* doing, bool committing) const;
};

/// A transaction on the caller's connection, which has to have none. Rolls back at its end unless it was committed.
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

/// Whether the server ended a transaction because of another one, which may go well when it is begun again.
bool is_conflict_of_transactions(int code) noexcept;

}  // namespace rowlock::inline v1::driver
