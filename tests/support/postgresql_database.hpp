#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/database.hpp"

namespace rowlock::test {

class pq_connection;

/// A schema of its own, and a role of the same name that owns it, finds it first and may do nothing else, on the server
/// of ROWLOCK_TEST_POSTGRESQL_URL. Whoever is still connected as that role when the object goes is thrown out. The look
/// from outside is a superuser's, by a connection that a forked child does not use. Any thread may look.
class postgresql_database : public database {
 public:
  postgresql_database();
  ~postgresql_database() override;

  /// Of the schema and of the role.
  const std::string& name() const noexcept { return name_; }
  std::string host() const;
  std::uint16_t port() const;
  /// The same by way of something that listens on that port of this host, as a proxy does.
  std::string url_through(std::uint16_t port) const;
  /// The same by way of PgBouncer.
  std::string url_through_pgbouncer() const;
  /// As a second role, that has these privileges on all tables which are in the schema now: "SELECT, INSERT".
  std::string url_of_guest(std::string_view privileges);

  std::string url() const override;
  std::string shell() const override;
  bool serves_forked_children() const override { return true; }
  std::int64_t now() override;
  std::optional<lock_row> row(std::string_view name) override;
  bool has_table(std::string_view table) override;
  void vacate(std::string_view name) override;
  void steal(std::string_view name) override;
  void erase(std::string_view name) override;
  void expire(std::string_view name) override;
  void set_version(std::string_view name, std::int64_t version) override;
  void drop_tables() override;
  int newest_migration() override;
  void record_migration(int version, int serves_from) override;
  void forget_migration(int version) override;
  void forget_checksums() override;
  int missing_checksums() override;
  [[nodiscard]] std::unique_ptr<obstacle> stall() override;
  [[nodiscard]] std::unique_ptr<obstacle> reader() override;

  /// As an administrator, in the schema.
  void execute(const std::string& sql);
  std::int64_t number(const std::string& sql);
  std::string text(const std::string& sql);

  /// A transaction that has done this, and is rolled back when the obstacle goes.
  [[nodiscard]] std::unique_ptr<obstacle> transaction(const std::string& sql);
  /// One that has the row locked FOR UPDATE.
  [[nodiscard]] std::unique_ptr<obstacle> row_locked(std::string_view name);

  /// The server's processes that serve connections of the role.
  std::vector<pid_t> backends();
  int connections() { return static_cast<int>(backends().size()); }
  /// Ends them, and waits until they are gone. How many there were.
  int terminate_backends();
  /// While it is there, those that are there now are stopped: they keep what they have locked, and answer nothing. Only
  /// where the server runs on this host.
  [[nodiscard]] std::unique_ptr<obstacle> freeze_backends();

 private:
  std::string guest() const { return name_ + "_guest"; }
  /// Calls with a connection; once more where the first was lost.
  template <class Result>
  Result with(const std::function<Result(pq_connection&)>& look);
  std::unique_ptr<pq_connection> connect() const;
  void change(std::string_view sql, std::initializer_list<std::string_view> arguments = {});

  std::string name_;
  std::mutex mutex_;
  std::unique_ptr<pq_connection> connection_;
  pid_t owner_;
};

}  // namespace rowlock::test
