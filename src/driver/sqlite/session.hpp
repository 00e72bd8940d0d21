#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "driver/backend.hpp"
#include "driver/sqlite/files.hpp"
#include "driver/sqlite/liveness_files.hpp"
#include "driver/sqlite/statement.hpp"

namespace rowlock::inline v1::driver {

/// Microseconds since 1970: the result of clock_us(). Tests use another one.
using wall_clock = std::int64_t (*)();
std::int64_t host_wall_clock();

struct sqlite_options {
  std::string path;
  warn warning{};
  const liveness_files* liveness = nullptr;  // nullptr: every holder without a lease counts as alive
  wall_clock clock = host_wall_clock;
};

/// A connection to an SQLite file.
class sqlite_session final : public session {
 public:
  sqlite_session(const sqlite_options& options, const limits& until);
  ~sqlite_session() override;

  void exclusively(const std::function<void()>& body, const limits& until) override;
  void reuse(std::vector<row>&& read) noexcept override;

 private:
  std::vector<row> do_run(const sheets::step& what, std::span<const request> batch, const limits& until) override;
  void do_script(const std::string& sql) override;
  std::int64_t do_change_count(const limits& until) override;

  struct prepared {
    sqlite_statement read;
    sqlite_statement write;
    sqlite_statement then;
  };

  /// Not open yet. The destructor runs where opening it fails, too.
  explicit sqlite_session(const sqlite_options& options);

  /// Counts the existing sessions.
  struct counted {
    counted() noexcept;
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted();
  };

  static void refuse_inherited();
  void open(const sqlite_options& options);
  void register_functions(const std::string& doing);
  void choose_durability(const sqlite_options& options);
  void require_same_files();
  std::string pragma(const std::string& text, const limits& until);

  static void clock_us(sqlite3_context* context, int count, sqlite3_value** values);
  static void is_dead(sqlite3_context* context, int count, sqlite3_value** values);
  static void tell(sqlite3_context* context, int count, sqlite3_value** values);

  sqlite_statement& ready(sqlite_statement& slot, const std::string& sql);
  void execute(sqlite_statement& statement, const request& arguments, answer_rows& to, const char* doing, bool writing);
  static int on_busy(void* self, int polls);

  void in_transaction(const std::function<void()>& body);

  bool has_file_lock() const noexcept { return sqlite3_get_autocommit(db_.get()) == 0; }
  bool read(const sheets::step& what, const request& one, answer_rows& rows);
  bool read_first(const sheets::step& what, std::span<const request> batch, answer_rows& rows);
  bool write_first(const sheets::step& what, std::span<const request> batch, answer_rows& rows);
  std::vector<request> write(const sheets::step& what, std::span<const request> batch, answer_rows& rows);
  void add_own_answer(const argument& key, answer_rows& to);

  counted counted_;
  sqlite_handle db_;
  const std::string path_;
  const warn warning_;
  std::optional<file_identity> file_;  // the open file; nullopt: a database in memory
  std::shared_ptr<log_files> logs_{};  // of file_
  base::instant seen_{};               // when the files were last found there
  limits limits_;                      // of the call under way: waits for the file's lock obey them
  bool waits_for_file_ = true;
  bool was_refused_ = true;  // the last request of a step that could be refused
  const liveness_files* liveness_;
  wall_clock clock_;
  std::optional<std::int64_t> now_;  // of the statement under way
  row own_answer_;                   // the answer of the statement under way; the first cell is for the key
  std::vector<row> spare_;           // already read, and of use for the next answer
  std::array<prepared, sheets::sheet::size> steps_;
  sqlite_statement begin_;
  sqlite_statement commit_;
  sqlite_statement data_version_;
};

}  // namespace rowlock::inline v1::driver
