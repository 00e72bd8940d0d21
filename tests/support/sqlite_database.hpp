#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/database.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {

/// A file in a folder of its own. Every look at it opens a connection and closes it again, so that none is there for
/// long: a forked child inherits nothing from here.
class sqlite_database : public database {
 public:
  sqlite_database();
  /// A file that belongs to another process, or to another test.
  explicit sqlite_database(std::filesystem::path file);

  const std::filesystem::path& file() const noexcept { return file_; }

  std::string url() const override;
  std::string shell() const override;
  bool serves_forked_children() const override { return false; }
  std::int64_t now() override;
  std::optional<lock_row> row(std::string_view name) override;
  bool has_table(std::string_view table) override;
  void vacate(std::string_view name) override;
  void steal(std::string_view name) override;
  void erase(std::string_view name) override;
  void expire(std::string_view name) override;
  void set_version(std::string_view name, std::int64_t version) override;
  void age(std::string_view name, std::chrono::seconds by) override;
  void add_unused(int number) override;
  int rows() override;
  int tickets() override;
  std::int64_t enqueue(std::string_view name) override;
  std::int64_t enqueue_set(std::string_view name, std::chrono::milliseconds waited) override;
  void erase_ticket(std::int64_t ticket) override;
  void kill_waiters(std::chrono::seconds ago) override;
  void kill_share(std::int64_t token, std::chrono::seconds ago) override;
  int shares() override;
  std::int64_t floor() override;
  void raise_floor(std::int64_t version) override;
  void drop_tables() override;
  int newest_migration() override;
  void record_migration(int version, int serves_from) override;
  void forget_migration(int version) override;
  void forget_checksums() override;
  void edit_migration(int version) override;
  int missing_checksums() override;
  std::unique_ptr<obstacle> migration_gate() override;
  bool is_at_migration_gate() override;
  void end_sessions() override {}
  std::unique_ptr<obstacle> stall() override;
  std::unique_ptr<obstacle> reader() override;

 private:
  std::unique_ptr<temp_folder> folder_;
  std::filesystem::path file_;
};

}  // namespace rowlock::test
