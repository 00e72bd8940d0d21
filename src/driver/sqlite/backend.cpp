#include <rowlock/error.hpp>

#include <atomic>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "driver/backend.hpp"
#include "driver/sqlite/enlisted_transaction.hpp"
#include "driver/sqlite/files.hpp"
#include "driver/sqlite/liveness_files.hpp"
#include "driver/sqlite/session.hpp"
#include "sql/loader.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr const char* in_memory = ":memory:";

class sqlite_database final : public database {
 public:
  sqlite_database(std::string path, const open_options& with)
      : path_{std::move(path)},
        table_prefix_{with.table_prefix},
        warning_{with.warning},
        enlisted_texts_{sheets::sqlite_enlisted(with.table_prefix, "main")} {
    if (path_ == in_memory) return;
    // An absolute path does not depend on the working directory at the time when a session is opened. An empty path
    // would be a private, temporary database.
    std::error_code failure;
    if (auto absolute = std::filesystem::absolute(path_, failure); !failure) path_ = std::move(absolute);
    files_.emplace(folder_beside(path_), with.table_prefix);
  }

  std::string server() const override { return "SQLite (" + path_ + ")"; }
  std::unique_ptr<session> connect(const limits& until) override {
    return std::make_unique<sqlite_session>(sqlite_options{.path = path_,
                                                           .warning = [this](const std::string& s) { warning_(s); },
                                                           .liveness = files_ ? &*files_ : nullptr},
                                            until);
  }
  std::unique_ptr<enlisted_transaction> join(caller_transaction& tx, bool /*is_guarded*/) override {
    require_kind(tx, detail::backend::sqlite);
    return std::make_unique<sqlite_enlisted>(static_cast<sqlite_caller&>(tx), enlisted_texts_, table_prefix_, path_,
                                             files_ ? &*files_ : nullptr);
  }
  bool has_row_locks() const noexcept override { return false; }
  std::string liveness() override;
  void abandon() noexcept override {
    if (files_) files_->abandon();
  }
  void retire(const sheets::sheet& sql, session& on, const limits& until) override;
  std::size_t most_sessions() const noexcept override {
    return path_ == in_memory ? 1 : std::numeric_limits<std::size_t>::max();
  }
  foreign_news news() const noexcept override {
    return path_ == in_memory ? foreign_news::none : foreign_news::counted;
  }

 private:
  // The same for every client that opens the file, whatever name it uses.
  static std::filesystem::path folder_beside(const std::string& path) {
    std::error_code ignored;
    auto folder = std::filesystem::weakly_canonical(path, ignored);
    if (folder.empty()) folder = path;
    return folder += "-rowlock";
  }

  std::string path_;
  const std::string table_prefix_;
  warn_once warning_;
  const sheets::enlisted_texts enlisted_texts_;
  std::optional<liveness_files> files_;  // nullopt: the database is in memory
  std::atomic<bool> has_own_file_{false};
};

std::string sqlite_database::liveness() {
  if (!files_) return {};
  has_own_file_ = true;
  return files_->own();
}

// A file is deleted only after the last row that names it, and no new row can name it: without the file other clients
// could not find out that its client has ended.
void sqlite_database::retire(const sheets::sheet& sql, session& on, const limits& until) {
  if (!has_own_file_) return;
  for (const auto& dead : files_->dead()) {
    const request one{std::string_view{dead}};
    on.run(sql[sheets::verb::vacate_dead], {&one, 1}, until);
    files_->remove(dead);
  }
  const auto own = files_->own();
  const request one{std::string_view{own}};
  if (on.run(sql[sheets::verb::names_liveness], {&one, 1}, until).empty()) files_->remove(own);
}

void refuse_options_of_others(const open_options& with) {
  if (with.transaction_pooling)
    throw error{errc::invalid_option,
                "transaction_pooling is for PostgreSQL behind PgBouncer; leave it off for SQLite"};
  if (with.durable_release)
    throw error{errc::invalid_option,
                "durable_release is for PostgreSQL; leave it off for SQLite, where locks end with the host anyway"};
}

std::unique_ptr<database> open(const core::url& address, const open_options& with) {
  refuse_options_of_others(with);
  if (sqlite3_threadsafe() == 0)
    throw error{
        errc::unsupported,
        "this SQLite library was built without support for threads; use one built with SQLITE_THREADSAFE=1 or 2"};
  return std::make_unique<sqlite_database>(read_sqlite_url(address), with);
}

sheets::sheet sheet_of(std::string_view prefix, const open_options& /*with*/) { return sheets::sqlite(prefix); }

std::vector<sheets::passage> passages(std::string_view /*scheme*/, const open_options& with) {
  refuse_options_of_others(with);
  return sheets::sqlite_passages(with.table_prefix);
}

constexpr std::string_view schemes[] = {"sqlite"};

}  // namespace
}  // namespace rowlock::inline v1::driver

extern "C" [[gnu::visibility("default")]] const rowlock::driver::backend* rowlock_backend_sqlite();

extern "C" const rowlock::driver::backend* rowlock_backend_sqlite() {
  static const rowlock::driver::backend the{.schemes = rowlock::driver::schemes,
                                            .sheet = rowlock::driver::sheet_of,
                                            .migrations = rowlock::sheets::sqlite_migrations(),
                                            .passages = rowlock::driver::passages,
                                            .open = rowlock::driver::open};
  return &the;
}
