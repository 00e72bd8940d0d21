#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace rowlock::test {

using namespace std::chrono_literals;

/// A program that uses its database by the driver of that database, and locks in its own transactions. One connection,
/// which is closed with the object, whatever is open on it. What the driver throws passes through.
class caller {
 public:
  caller() = default;
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;
  virtual ~caller() = default;

  /// At the isolation level it was opened for.
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;

  /// Whether its driver takes several statements at once and leaves the transaction open if one of them fails.
  virtual bool takes_several() const { return false; }

  /// In the transaction where one is open, else alone. All that it answers, in one text.
  virtual std::string text(const std::string& sql) = 0;
  void statement(const std::string& sql) { static_cast<void>(text(sql)); }
  std::int64_t number(const std::string& sql) { return std::stoll(text(sql)); }
  void savepoint(const std::string& name) { statement("SAVEPOINT " + name); }
  void roll_back_to(const std::string& name) { statement("ROLLBACK TO SAVEPOINT " + name); }

  virtual transaction_lock lock_in(client& locks, const lock_name& name, const lock_in_options& options = {},
                                   std::stop_token stop = {}) = 0;
  virtual std::optional<transaction_lock> try_lock_in(client& locks, const lock_name& name,
                                                      const lock_in_options& options = {}) = 0;
  virtual std::optional<transaction_lock> try_lock_in_for(client& locks, const lock_name& name,
                                                          std::chrono::milliseconds wait,
                                                          const lock_in_options& options = {},
                                                          std::stop_token stop = {}) = 0;
  virtual void confirm(const held_lock& held) = 0;
  virtual void confirm(const mutex& m) = 0;

  /// The bodies use this object for their statements.
  using counting_body = std::function<std::int64_t(attempt)>;
  using silent_body = std::function<void()>;
  virtual std::int64_t optimistically(client& locks, const lock_name& name, const counting_body& body,
                                      const retry_options& options = {}) = 0;
  virtual void optimistically_without_result(client& locks, const lock_name& name, const silent_body& body,
                                             const retry_options& options = {}) = 0;
};

/// What begins so is at this level: "read committed" and so on; with SQLite "deferred" or "immediate".
std::unique_ptr<caller> open_postgresql_caller(const std::string& url, std::string_view isolation);
/// By libpq, several statements in one message.
std::unique_ptr<caller> open_libpq_caller(const std::string& url, std::string_view isolation);
std::unique_ptr<caller> open_mysql_caller(const std::string& url, std::string_view isolation);
std::unique_ptr<caller> open_sqlite_caller(const std::string& url, std::string_view isolation);
/// By what the URL, one of client::connect's, begins with.
std::unique_ptr<caller> open_caller(const std::string& url, std::string_view isolation);

}  // namespace rowlock::test
