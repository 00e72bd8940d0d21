#include "driver/sqlite/enlisted_transaction.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/error_detail.hpp"
#include "driver/sqlite/files.hpp"
#include "driver/sqlite/session.hpp"
#include "driver/sqlite/statement.hpp"

namespace rowlock::inline v1::driver {

namespace {

[[noreturn]] void throw_stale(const error& e) {
  throw detail::error_access::make(errc::stale_snapshot,
                                   "another connection has written to the file since this transaction first read, so "
                                   "SQLite does not let it write; roll it back, and begin again with lock_in as the "
                                   "first statement",
                                   {.retryable = true, .native_code = e.native_code()});
}

// A copy of a file has the same installation id, so the file itself is looked for.
std::optional<std::string> schema_of(const std::string& path, sqlite_caller& tx) {
  const auto is_ours = [&](const std::filesystem::path& file) {
    std::error_code failure;
    return std::filesystem::equivalent(file, path, failure) && !failure;
  };
  const char* const own = sqlite3_db_filename(tx.handle(), "main");
  if (own != nullptr && (own == path || is_ours(own))) return "main";
  for (const row& attached : tx.execute("PRAGMA database_list", {}))
    if (is_ours(text(attached.at(2)))) return text(attached.at(1));
  return std::nullopt;
}

}  // namespace

sqlite_enlisted::sqlite_enlisted(sqlite_caller& tx, const sheets::enlisted_texts& in_main, std::string_view prefix,
                                 const std::string& path, const liveness_files* files)
    : tx_{tx}, path_{path}, schema_{schema_of(path, tx)}, files_{files} {
  const bool is_attached = schema_ && *schema_ != "main";
  if (is_attached) in_attached_ = sheets::sqlite_enlisted(prefix, *schema_);
  texts_ = is_attached ? &in_attached_ : &in_main;
}

// Only the connection that has the write lock can release anything.
bool sqlite_enlisted::lets_others_go_on() { return state() != SQLITE_TXN_WRITE; }

int sqlite_enlisted::state() const { return sqlite3_txn_state(tx_.handle(), schema_ ? schema_->c_str() : nullptr); }

// Data that was read in another file has a snapshot of its own, and SQLite does not report that it is old.
void sqlite_enlisted::refuse_older_data() {
  if (state() == SQLITE_TXN_WRITE || sqlite3_txn_state(tx_.handle(), nullptr) == SQLITE_TXN_NONE) return;
  for (const row& file : tx_.execute("PRAGMA database_list", {})) {
    const auto schema = text(file.at(1));
    if (schema != schema_ && schema != "temp" && sqlite3_txn_state(tx_.handle(), schema.c_str()) == SQLITE_TXN_READ)
      throw error{
          errc::wrong_transaction_state,
          "this transaction has read from " + text(file.at(2)) +
              " before it has the lock, and others may change that until then; roll it back, and begin again with "
              "lock_in as the first statement"};
  }
}

// Takes the file's write lock, if the transaction does not have it already; from then on no other connection changes
// anything. A transaction that has read cannot wait for another writer: when the writer commits, the transaction's own
// snapshot is too old to write.
void sqlite_enlisted::take_write_lock() {
  if (state() == SQLITE_TXN_WRITE) return;
  const bool has_snapshot = state() == SQLITE_TXN_READ;
  try {
    tx_.execute(texts_->await, {});
  } catch (const error& e) {
    const bool is_busy = (e.native_code() & 0xFF) == SQLITE_BUSY;
    if (e.native_code() == SQLITE_BUSY_SNAPSHOT || (is_busy && has_snapshot)) throw_stale(e);
    throw;
  }
}

// A transaction in files that were deleted or replaced excludes no other client.
void sqlite_enlisted::require_same_files() const {
  if (has_moved(tx_.handle(), *schema_)) throw_replaced(path_);
  const auto file = identity_of(path_);
  const auto logs = file ? log_files::known(*file) : nullptr;
  const auto gone = logs ? logs->removed() : std::nullopt;
  if (gone) throw_replaced(*gone);
}

// With the write lock. Knowledge of the main file remains true while the connection is open. Its tables may be made
// anew meanwhile, but those are the client's, too.
bool sqlite_enlisted::enters(std::string_view installation) {
  if (!schema_) return false;
  require_same_files();
  take_write_lock();
  const bool is_main = texts_ != &in_attached_;
  if (is_main && is_known_in(tx_.handle(), installation)) return true;
  const auto found = tx_.execute(texts_->installation, {});
  if (found.empty() || text(found[0].at(0)) != installation) return false;
  if (is_main) note_installation(tx_.handle(), installation);
  return true;
}

// Makes the row if there is none.
row sqlite_enlisted::find(const enlisted_target& at) {
  const std::array<argument, 1> asked{at.name};
  auto found = tx_.execute(texts_->see, asked);
  if (found.empty()) found = tx_.execute(texts_->take, asked);
  return std::move(found.at(0));
}

// version, vacant, expires_at, liveness, acquisition
bool sqlite_enlisted::is_free(const row& found, std::int64_t clock) const {
  if (number(found.at(1)) == 1) return true;
  if (const auto expires_at = number(found.at(2))) return *expires_at <= clock;
  const auto liveness = text(found.at(3));
  return files_ != nullptr && !liveness.empty() && !files_->is_alive(liveness);
}

// The clock is read after the write lock was taken, and from then on no other connection changes the row. For why this
// and the following are safe, see docs/protocol.md, "In the caller's transaction".
lock_view sqlite_enlisted::take(const enlisted_target& at, const take_options& how) try {
  if (schema_) refuse_older_data();
  if (!enters(at.installation)) return {.what = enlisted_result::elsewhere};
  const auto clock = host_wall_clock();
  if (change_vacant(at, clock, how.note, clock, clock)) return {.what = enlisted_result::locked, .version = clock};
  const auto found = find(at);
  const bool is_released = !how.released.empty() && text(found.at(4)) == how.released;
  if (!is_released && !is_free(found, clock)) return {};
  const auto version = std::max(number(found.at(0)).value_or(0) + 1, clock);
  change(at, version, how.note, clock);
  return {.what = enlisted_result::locked, .version = version};
} catch (const error& e) {
  if ((e.native_code() & 0xFF) == SQLITE_BUSY && e.code() != errc::stale_snapshot) return {};
  throw;
}

// No other connection can change anything, so the count is the verdict.
bool sqlite_enlisted::change_vacant(const enlisted_target& at, std::int64_t version, std::string_view note,
                                    std::int64_t clock, std::int64_t below) {
  const std::array<argument, 5> asked{at.name, version, or_null(note), clock, below};
  tx_.execute(texts_->take_vacant, asked);
  return sqlite3_changes(tx_.handle()) == 1;
}

void sqlite_enlisted::change(const enlisted_target& at, std::int64_t version, std::string_view note,
                             std::int64_t clock) {
  const std::array<argument, 4> arguments{at.name, version, or_null(note), clock};
  tx_.execute(texts_->change, arguments);
}

// Under the write lock, because a transaction that only reads may see an old state of the file.
enlisted_result sqlite_enlisted::pin(const enlisted_target& at, std::string_view acquisition, duration /*lease*/) {
  if (!enters(at.installation)) return enlisted_result::elsewhere;
  const std::array<argument, 2> asked{at.name, acquisition};
  const auto found = tx_.execute(texts_->pin, asked);
  if (found.empty() || number(found[0].at(0)) != 1) return enlisted_result::not_ours;
  const auto expires_at = number(found[0].at(1));
  return expires_at && *expires_at <= host_wall_clock() ? enlisted_result::expired : enlisted_result::locked;
}

lock_view sqlite_enlisted::look(const enlisted_target& at) {
  if (!enters(at.installation)) return {.what = enlisted_result::elsewhere};
  const auto found = find(at);
  if (!is_free(found, host_wall_clock())) return {};
  return {.what = enlisted_result::locked, .version = number(found.at(0)).value_or(0)};
}

// The transaction has kept the write lock all the time, so only the body itself can have changed the version.
enlisted_result sqlite_enlisted::set(const enlisted_target& at, std::int64_t version) {
  tx_.require_transaction();
  if (!enters(at.installation)) return enlisted_result::elsewhere;
  const auto clock = host_wall_clock();
  const auto next = std::max(version + 1, clock);
  if (change_vacant(at, next, {}, clock, version + 1)) return enlisted_result::locked;
  const auto seen = look(at);
  if (seen.what != enlisted_result::locked) return seen.what;
  if (seen.version != version) return enlisted_result::busy;
  change(at, next, {}, clock);
  return enlisted_result::locked;
}

}  // namespace rowlock::inline v1::driver
