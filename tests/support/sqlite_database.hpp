#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "support/database.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {

/// A file in its own folder. Each access opens and closes a connection, so that a forked child inherits none.
class sqlite_database : public database {
 public:
  sqlite_database();
  /// A file that belongs to another process, or to another test.
  explicit sqlite_database(std::filesystem::path file);

  const std::filesystem::path& file() const noexcept { return file_; }

  std::string url() const override;
  std::string shell() const override;
  bool serves_forked_children() const override { return false; }
  void execute(const std::string& sql) override { ask(sql); }
  sql_rows ask(const std::string& sql) override;
  std::string quoted(std::string_view text) override;
  bool has_table(std::string_view table) override;
  [[nodiscard]] std::unique_ptr<obstacle> migration_gate() override;
  bool is_at_migration_gate() override;
  void end_sessions() override {}
  [[nodiscard]] std::unique_ptr<obstacle> stall() override;
  [[nodiscard]] std::unique_ptr<obstacle> transaction(const std::string& sql) override;

 private:
  std::string clock() const override;
  std::string interval(std::chrono::microseconds time) const override { return std::to_string(time.count()); }
  std::string microseconds(const std::string& time) const override { return time; }
  std::string random_id() const override { return "lower(hex(randomblob(16)))"; }

  std::unique_ptr<temp_folder> folder_;
  std::filesystem::path file_;
};

}  // namespace rowlock::test
