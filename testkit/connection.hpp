#pragma once

#include <rowlock/rowlock.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace rowlock::test {

/// The transaction that is open on a connection, whatever driver that is made by.
class open_transaction {
 public:
  open_transaction() = default;
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  virtual ~open_transaction() = default;

  /// rowlock::lock_in
  virtual void lock(client& locks, const lock_name& name) = 0;
  /// rowlock::confirm
  virtual void prove(const held_lock& held) = 0;
};

/// For what rowlock takes as a transaction. To be used where the header for its driver was included.
template <class Handle>
class transaction_on final : public open_transaction {
 public:
  explicit transaction_on(Handle tx) : tx_{tx} {}

  void lock(client& locks, const lock_name& name) override { lock_in(tx_, locks, name); }
  void prove(const held_lock& held) override { confirm(tx_, held); }

 private:
  Handle tx_;
};

/// Prepared on a connection, which it may not outlive.
class statement {
 public:
  statement() = default;
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  virtual ~statement() = default;

  /// How many rows came back or, where none can, were changed. nullptr is NULL.
  virtual std::size_t run(std::span<const char* const> values) = 0;
  /// The first field of the first row; nullopt where no row came back.
  virtual std::optional<std::string> read(std::span<const char* const> values) = 0;
};

/// A connection by the driver that rowlock takes transactions of, as an application would use it: every statement is a
/// transaction of its own, unless a `body` runs it. One thread uses it at a time. What the driver throws passes
/// through.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Not prepared; the number in the last field of the first row, 0 where there is none.
  virtual long long execute(const std::string& sql) = 0;
  /// The same for a statement that writes: how many rows it wrote.
  virtual std::size_t change(const std::string& sql) = 0;
  virtual std::unique_ptr<statement> prepare(const std::string& sql) = 0;

  /// Committed when the body returns, undone when it throws.
  using body = std::function<void(open_transaction&)>;
  virtual void in_transaction(const body& what) = 0;
  /// The same by rowlock::optimistically, which may run the body several times.
  virtual void optimistically(client& locks, const lock_name& name, const std::function<void()>& what,
                              const retry_options& options) = 0;

  /// How many statements it was given since it was first asked: BEGIN and COMMIT where it sends them, and those of
  /// rowlock in its transactions.
  virtual long long statements() = 0;
};

struct connection_options {
  std::string application{};        ///< what PostgreSQL lists the session as
  bool begins_immediately = false;  ///< SQLite: a transaction waits for other writers when it begins
  bool counts_matches = false;      ///< MySQL: rows that a statement left as they were are counted as written
};

/// To MySQL or MariaDB by Connector/C++, at READ COMMITTED.
std::unique_ptr<connection> connect_mysql(const std::string& url, const connection_options& options = {});
/// By libpqxx.
std::unique_ptr<connection> connect_postgresql(const std::string& url, const connection_options& options = {});
/// To a file, by the C interface, with the settings that rowlock gives its own connections.
std::unique_ptr<connection> connect_sqlite(const std::string& path, const connection_options& options = {});

/// Throw std::invalid_argument, which repeats nothing that could be a password, where the driver could not read the
/// URL.
void check_mysql_url(const std::string& url);
void check_postgresql_url(const std::string& url);

}  // namespace rowlock::test
