#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>

#include "subjects.hpp"
#include "testkit/sqlite.hpp"

namespace bench {
namespace {

constexpr std::string_view upsert =
    "INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?2, ?6, ?7) "
    "ON CONFLICT (name) DO UPDATE SET version = max(version + 1, excluded.version), owner = excluded.owner, "
    "thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, "
    "expires_at = excluded.expires_at, note = excluded.note "
    "WHERE owner IS NULL OR expires_at <= excluded.acquired_at";
constexpr std::string_view vacate =
    "UPDATE rowlock_lock SET version = max(version + 1, ?3), owner = NULL, thread = NULL, note = NULL, expires_at = ?3 "
    "WHERE name = ?1 AND acquisition = ?2";
constexpr std::string_view read_version = "SELECT version FROM rowlock_lock WHERE name = ?1";
constexpr std::string_view compare_and_set =
    "UPDATE rowlock_lock SET version = max(version + 1, ?2), owner = ?3, thread = ?4, acquisition = ?5, "
    "acquired_at = ?2, expires_at = ?6, note = ?7 "
    "WHERE name = ?1 AND version = ?8 AND (owner IS NULL OR expires_at <= ?2)";
constexpr std::int64_t lease_us = 30'000'000;

std::int64_t now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

void check(sqlite3_stmt* of, int code) { test::check_sqlite(sqlite3_db_handle(of), code, "a raw cycle"); }

void set(sqlite3_stmt* to, int at, std::string_view text) {
  check(to, sqlite3_bind_text(to, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
}

void set(sqlite3_stmt* to, int at, std::int64_t number) { check(to, sqlite3_bind_int64(to, at, number)); }

/// Runs it to the end; it must have changed one row.
void change_one(sqlite3_stmt* what) {
  (void)sqlite3_step(what);
  check(what, sqlite3_reset(what));
  if (sqlite3_changes(sqlite3_db_handle(what)) != 1)
    throw std::runtime_error{"a raw cycle did not get the row, or did not have it"};
}

std::int64_t number_from(sqlite3_stmt* query) {
  const bool has_row = sqlite3_step(query) == SQLITE_ROW;
  const std::int64_t number = has_row ? sqlite3_column_int64(query, 0) : 0;
  check(query, sqlite3_reset(query));
  if (!has_row) throw std::runtime_error{"a raw cycle did not find the row"};
  return number;
}

class upsert_lane : public lane {
 public:
  upsert_lane(const std::string& path, std::size_t number)
      : connection_{test::open_sqlite(path)},
        name_{fmt::format("bench/{}", number)},
        thread_{fmt::format("{}", number)} {}

  void cycle() override { upsert_and_vacate(); }

 protected:
  /// Leaves a vacant row behind.
  void upsert_and_vacate() {
    take(upsert_.get());
    let_go();
  }

  /// By a statement whose first seven arguments are those of the upsert.
  void take(sqlite3_stmt* by) {
    acquisition_.draw();
    const auto now = now_us();
    set(by, 1, name_);
    set(by, 2, now);
    set(by, 3, owner_);
    set(by, 4, thread_);
    set(by, 5, acquisition_.text());
    set(by, 6, now + lease_us);
    check(by, sqlite3_bind_null(by, 7));
    change_one(by);
  }

  void let_go() {
    auto* const to = vacate_.get();
    set(to, 1, name_);
    set(to, 2, acquisition_.text());
    set(to, 3, now_us());
    change_one(to);
  }

  sqlite3* on() const { return connection_.get(); }
  const std::string& name() const { return name_; }

 private:
  test::sqlite_handle connection_;
  test::sqlite_prepared upsert_{test::prepare_sqlite(connection_.get(), upsert)};
  test::sqlite_prepared vacate_{test::prepare_sqlite(connection_.get(), vacate)};
  std::string name_;
  std::string owner_ = fmt::format("bench:localhost:{}:0123456789abcdef", ::getpid());
  std::string thread_;
  acquisition acquisition_;
};

class compare_and_set_lane final : public upsert_lane {
 public:
  compare_and_set_lane(const std::string& path, std::size_t number) : upsert_lane{path, number} { upsert_and_vacate(); }

  void cycle() override {
    set(read_version_.get(), 1, name());
    set(compare_and_set_.get(), 8, number_from(read_version_.get()));
    take(compare_and_set_.get());
    let_go();
  }

 private:
  test::sqlite_prepared read_version_{test::prepare_sqlite(on(), read_version)};
  test::sqlite_prepared compare_and_set_{test::prepare_sqlite(on(), compare_and_set)};
};

template <class Lane>
class sqlite_raw final : public subject {
 public:
  explicit sqlite_raw(const std::filesystem::path& folder) : path_{folder / "raw.db"} {
    rowlock::client::connect("sqlite:" + path_).migrate();
  }

  std::unique_ptr<lane> open_lane(std::size_t number) override { return std::make_unique<Lane>(path_, number); }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<subject> make_sqlite_raw(const std::filesystem::path& folder) {
  return std::make_unique<sqlite_raw<upsert_lane>>(folder);
}

std::unique_ptr<subject> make_sqlite_raw_compare_and_set(const std::filesystem::path& folder) {
  return std::make_unique<sqlite_raw<compare_and_set_lane>>(folder);
}

}  // namespace bench
