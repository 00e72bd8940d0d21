#include "driver/sqlite/session.hpp"

#include <pthread.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/boot_clock.hpp"
#include "core/wait.hpp"
#include "driver/session.hpp"
#include "driver/sqlite/files.hpp"
#include "driver/sqlite/statement.hpp"

namespace rowlock::inline v1::driver {

namespace {

// --- constants -------------------------------------------------------------------------------------------------------

constexpr const char* setting_up = "setting up the connection";

const request no_arguments{};

struct not_all {};  // of a batch that is carried out as a whole

std::atomic<int> sessions{0};
std::atomic<bool> has_inherited{false};

}  // namespace

// --- set-up ----------------------------------------------------------------------------------------------------------

std::int64_t host_wall_clock() {
  return std::chrono::floor<duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

sqlite_session::counted::counted() noexcept { ++sessions; }
sqlite_session::counted::~counted() { --sessions; }

// SQLite keeps a record of a process's file locks in memory, and the child of a fork inherits the record without the
// locks: it may corrupt every file that it opens then.
void sqlite_session::refuse_inherited() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { has_inherited = has_inherited || sessions > 0; });
  if (has_inherited)
    throw error{
        errc::used_after_fork,
        "this process was forked while SQLite clients were open, and SQLite cannot be used in such a child; fork "
        "before connecting, close the clients before forking, or call exec in the child"};
}

sqlite_session::sqlite_session(const sqlite_options& options)
    : path_{options.path}, warning_{options.warning}, liveness_{options.liveness}, clock_{options.clock} {}

sqlite_session::sqlite_session(const sqlite_options& options, const limits& until) : sqlite_session{options} {
  refuse_inherited();
  const scoped_value scope{limits_, until};
  open(options);
  choose_durability(options);
  if (file_) logs_ = log_files::of(*file_, sqlite3_db_filename(db_.get(), "main"));
  require_same_files();
}

void sqlite_session::open(const sqlite_options& options) {
  sqlite3* db = nullptr;
  // One thread at a time uses a session, so SQLite need not lock its own mutexes.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(options.path.c_str(), &db, flags, nullptr);
  db_.reset(db);
  const std::string doing = "opening";
  if (code != SQLITE_OK)
    raise_sqlite(db, db != nullptr ? sqlite3_extended_errcode(db) : code, doing, false, options.path);
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_handler(db, on_busy, this);
  if (sqlite3_db_readonly(db, "main") == 1)
    throw error{errc::permission_denied,
                fault_of(options.path)
                    .value_or(file_fault{.sentence = options.path + " is read-only, and rowlock must write to it"})
                    .sentence};
  if (!std::string_view{sqlite3_db_filename(db_.get(), "main")}.empty()) file_ = identity_of(path_);
  if (has_moved(db_.get(), "main")) throw_replaced(path_);
  register_functions(doing);
}

// The last connection of a file that is closed writes the log into the file, and then deletes the log by its name. If
// others have made a new file or log since, that would undo what they committed, and delete the grants of those that
// were killed. There is a new log if any other client came: it cannot delete its own while this one has the file open.
sqlite_session::~sqlite_session() {
  const bool is_replaced = db_ && has_moved(db_.get(), "main") && identity_of(path_);
  if (is_replaced || (logs_ && logs_->are_others()))
    sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

// SQLite continues in files that were deleted or replaced, where no other client sees what it writes. So its answers
// count only if the files are still there. A holder with an older grant is notified at its next renewal, so a look at
// every statement, which costs a thirtieth of a cycle, would gain nothing.
void sqlite_session::require_same_files() {
  constexpr duration seldom = std::chrono::milliseconds{1};
  const auto now = base::now();
  if (!file_ || now - seen_ < seldom) return;
  if (const auto gone = identity_of(path_) == file_ ? logs_->removed() : path_) {
    if (warning_) warning_(was_replaced(*gone));
    throw_replaced(*gone);
  }
  seen_ = now;
}

// SQLite must not evaluate these before the statement runs, so none is declared deterministic.
void sqlite_session::register_functions(const std::string& doing) {
  const auto add = [&](const char* name, int arguments, void (*function)(sqlite3_context*, int, sqlite3_value**)) {
    const int code = sqlite3_create_function_v2(db_.get(), name, arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY, this,
                                                function, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) raise_sqlite(db_.get(), code, doing, false);
  };
  add("clock_us", 0, clock_us);
  add("tell", 2, tell);
  add("is_dead", 2, is_dead);
}

// The reasons are in docs/protocol-sqlite.md: NORMAL cannot harm a WAL file, and no holder survives a power loss.
void sqlite_session::choose_durability(const sqlite_options& options) {
  const bool is_new = pragma("page_count", limits_) == "0";
  const std::string mode = pragma(is_new ? "journal_mode = WAL" : "journal_mode", limits_);
  if (is_new) pragma("page_count", limits_);  // opens the log, so that no other connection removes it when it closes
  pragma(mode == "wal" || mode == "memory" ? "synchronous = NORMAL" : "synchronous = FULL", limits_);
  if (mode != "wal" && mode != "memory" && options.warning)
    options.warning("the SQLite file " + options.path + " has journal_mode " + mode +
                    ", so readers and the writer block each other; PRAGMA journal_mode=WAL makes it faster");
}

std::string sqlite_session::pragma(const std::string& text, const limits& until) {
  sqlite_statement statement;
  // Changing the journal mode does not always call the busy handler.
  for (int polls = 0;; ++polls) {
    try {
      answer_rows answer;
      execute(ready(statement, "PRAGMA " + text), no_arguments, answer, setting_up, false);
      const auto rows = answer.take();
      if (rows.empty() || rows[0].empty()) return {};
      const auto number = maybe_integer(rows[0][0]);
      return number ? std::to_string(*number) : driver::text(rows[0][0]);
    } catch (const error& e) {
      if (e.code() != errc::call_timed_out || base::now() >= until.deadline) throw;
      on_busy(this, polls);
    }
  }
}

// --- functions of the statements -------------------------------------------------------------------------------------

// The clock is read once for each statement, at its first use, so all times of the statement are the same.
void sqlite_session::clock_us(sqlite3_context* context, int /*count*/, sqlite3_value** /*values*/) {
  auto& self = *static_cast<sqlite_session*>(sqlite3_user_data(context));
  if (!self.now_) self.now_ = self.clock_();
  sqlite3_result_int64(context, *self.now_);
}

// expires_at, liveness
void sqlite_session::is_dead(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const auto* const files = static_cast<sqlite_session*>(sqlite3_user_data(context))->liveness_;
  const bool has_lease = sqlite3_value_type(values[0]) != SQLITE_NULL;
  const auto* const name = reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
  sqlite3_result_int(context, !has_lease && files != nullptr && name != nullptr && !files->is_alive(name) ? 1 : 0);
}

void sqlite_session::tell(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  row& answer = static_cast<sqlite_session*>(sqlite3_user_data(context))->own_answer_;
  const auto at = static_cast<std::size_t>(sqlite3_value_int(values[0]));
  if (answer.size() <= at) answer.resize(at + 1);
  assign(answer[at], values[1]);
  sqlite3_result_value(context, values[1]);
}

// --- one statement ---------------------------------------------------------------------------------------------------

sqlite_statement& sqlite_session::ready(sqlite_statement& slot, const std::string& sql) {
  if (!slot) slot = sqlite_statement{db_.get(), sql};
  return slot;
}

void sqlite_session::execute(sqlite_statement& statement, const request& arguments, answer_rows& to, const char* doing,
                             bool writing) {
  now_.reset();
  own_answer_.resize(1);
  const int code = statement.run(arguments, to);
  if (code == SQLITE_OK) return;
  if ((code & 0xFF) == SQLITE_BUSY && limits_.stop.stop_requested())
    throw error{errc::cancelled, std::string{"stopped while "} + doing};
  raise_sqlite(db_.get(), code, doing, writing);
}

// File locks have no queue, so a waiting session has to poll.
int sqlite_session::on_busy(void* self, int polls) {
  const limits& until = static_cast<sqlite_session*>(self)->limits_;
  const auto at = base::now();
  if (!static_cast<sqlite_session*>(self)->waits_for_file_ || at >= until.deadline || until.stop.stop_requested())
    return 0;
  std::this_thread::sleep_for(std::min<duration>(core::lock_poll_pause(polls), until.deadline - at));
  return 1;
}

// --- transactions ----------------------------------------------------------------------------------------------------

void sqlite_session::in_transaction(const std::function<void()>& body) {
  answer_rows none;
  if (has_file_lock()) return body();  // inside exclusively()
  execute(ready(begin_, "BEGIN IMMEDIATE"), no_arguments, none, doing(chore::beginning), false);
  try {
    body();
    execute(ready(commit_, "COMMIT"), no_arguments, none, doing(chore::committing), true);
  } catch (...) {
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);  // fails if SQLite has already rolled back
    throw;
  }
}

// --- the session -----------------------------------------------------------------------------------------------------

void sqlite_session::exclusively(const std::function<void()>& body, const limits& until) {
  const scoped_value scope{limits_, until};
  in_transaction(body);
}

// A name that is free most of the time costs one statement: after a grant the next attempt writes first, and reads only
// if it was refused. That write does not wait for the file's lock, so that a refused attempt waits for no other client.
std::vector<row> sqlite_session::do_run(const sheets::step& what, std::span<const request> batch, const limits& until) {
  const scoped_value scope{limits_, until};
  answer_rows rows{std::exchange(spare_, {})};
  if (!what.read) {
    write(what, batch, rows);
  } else if (!write_first(what, batch, rows)) {
    const bool was_refused = read_first(what, batch, rows);
    if (what.read_explains) was_refused_ = was_refused;
  }
  if (what.verb == sheets::verb::schema) seen_ = {};  // this verb compares files
  require_same_files();
  return rows.take();
}

void sqlite_session::reuse(std::vector<row>&& read) noexcept {
  constexpr std::size_t most = 4;  // a list may be long
  if (read.capacity() <= most) spare_ = std::move(read);
}

// false: there was no answer.
bool sqlite_session::read(const sheets::step& what, const request& one, answer_rows& rows) {
  const auto before = rows.size();
  execute(ready(steps_[static_cast<std::size_t>(what.verb)].read, what.read.value()), one, rows,
          sheets::doing(what.verb), false);
  return rows.size() > before;
}

// Whether it answered any of them.
bool sqlite_session::read_first(const sheets::step& what, std::span<const request> batch, answer_rows& rows) {
  if (batch.size() == 1) {
    const bool has_answered = read(what, batch[0], rows);
    if (!has_answered && what.write) write(what, batch, rows);
    return has_answered;
  }
  std::vector<request> left;
  for (const request& r : batch)
    if (!read(what, r, rows)) left.push_back(r);
  if (what.write) write(what, left, rows);
  return left.size() < batch.size();
}

// false: nothing was done, because it is likely to be refused, or another session has the file's lock. Not for a batch,
// which would be committed before the read: if the read failed, it would not be true that nothing has happened.
bool sqlite_session::write_first(const sheets::step& what, std::span<const request> batch, answer_rows& rows) {
  const bool may_act = has_file_lock() || (batch.size() == 1 && !was_refused_);
  if (!what.read_explains || !may_act) return false;
  const scoped_value scope{waits_for_file_, has_file_lock()};
  std::vector<request> refused;
  try {
    refused = write(what, batch, rows);
  } catch (const error& e) {
    if (e.code() != errc::call_timed_out || has_file_lock()) throw;
    return false;
  }
  was_refused_ = !refused.empty();
  for (const request& r : refused) read(what, r, rows);
  return true;
}

// Answers the requests that it did not carry out. A writing statement is a transaction of its own and begins by taking
// the write lock, so a single one needs no BEGIN IMMEDIATE.
std::vector<request> sqlite_session::write(const sheets::step& what, std::span<const request> batch,
                                           answer_rows& rows) try {
  std::vector<request> left;
  if (batch.empty()) return left;
  auto& texts = steps_[static_cast<std::size_t>(what.verb)];
  auto& statement = ready(texts.write, what.write.value());
  answer_rows none;
  const auto each = [&] {
    for (const request& r : batch) {
      const auto before = rows.size();
      execute(statement, r, rows, sheets::doing(what.verb), true);
      const bool has_answered = rows.size() > before;
      if (!has_answered && sqlite3_changes(db_.get()) > 0) add_own_answer(r[what.key], rows);
      if (what.then && rows.size() > before)
        execute(ready(texts.then, *what.then), r, none, sheets::doing(what.verb), true);
      if (what.read_explains && rows.size() == before) left.push_back(r);
      if (what.takes_all && rows.size() == before) throw not_all{};
      if (what.takes_one && rows.size() > before) return;
    }
  };
  if (batch.size() == 1 && !what.then) {
    each();
  } else {
    in_transaction(each);
  }
  return left;
} catch (const not_all&) {  // the transaction has undone what was done
  rows = {};
  return {};
}

// Adds the statement's answer, after the key.
void sqlite_session::add_own_answer(const argument& key, answer_rows& to) {
  if (const auto* words = std::get_if<std::string_view>(&key)) {
    assign(own_answer_[0], *words);
  } else {
    own_answer_[0] = {};
  }
  std::swap(to.add(), own_answer_);
}

void sqlite_session::do_script(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise_sqlite(db_.get(), code, doing(chore::scripting), true);
}

std::int64_t sqlite_session::do_change_count(const limits& until) {
  const scoped_value scope{limits_, until};
  answer_rows rows;
  execute(ready(data_version_, "PRAGMA data_version"), no_arguments, rows, doing(chore::looking_for_changes), false);
  require_same_files();
  return integer(rows.take().at(0).at(0));
}

}  // namespace rowlock::inline v1::driver
