#include "driver/sqlite/caller.hpp"

#include <rowlock/error.hpp>
#include <rowlock/interop/sqlite3.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <unordered_map>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "core/wait.hpp"
#include "driver/sqlite/statement.hpp"

namespace rowlock::inline v1 {

namespace driver {

namespace {

using installations = base::guarded<std::unordered_map<const void*, std::string>>;

// Never destroyed: connections may be closed when the program ends.
installations& known() {
  static auto* const all = new installations;
  return *all;
}

void answer_null(sqlite3_context* to, int /*count*/, sqlite3_value** /*arguments*/) { sqlite3_result_null(to); }
void forget(void* connection) { known().lock()->erase(connection); }

// The name is unique among the copies of this library in the process.
bool hears_of_end(sqlite3* connection) {
  static const auto name = "rowlock_" + std::to_string(reinterpret_cast<std::uintptr_t>(&known()));
  return sqlite3_create_function_v2(connection, name.c_str(), 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, connection,
                                    answer_null, nullptr, nullptr, forget) == SQLITE_OK;
}

}  // namespace

bool is_known_in(sqlite3* connection, std::string_view installation) {
  const auto all = known().lock();
  const auto found = all->find(connection);
  return found != all->end() && found->second == installation;
}

void note_installation(sqlite3* connection, std::string_view installation) {
  const bool is_new = !known().lock()->contains(connection);
  if (is_new && !hears_of_end(connection)) return;
  (*known().lock())[connection] = installation;
}

sqlite_caller::sqlite_caller(sqlite3* db) : db_{db} {
  if (db == nullptr) throw error{errc::wrong_transaction_state, "the sqlite3* is null; pass an open connection"};
}

std::vector<row> sqlite_caller::execute(const std::string& sql, std::span<const detail::value_in> arguments) {
  request all{};
  std::copy(arguments.begin(), arguments.end(), all.begin());
  answer_rows out;
  if (sqlite_statement{db_, sql, 0}.run(all, out) != SQLITE_OK)
    raise_sqlite(db_, sqlite3_extended_errcode(db_), "locking in the caller's transaction", false);
  return out.take();
}

void sqlite_caller::require_transaction() const {
  if (sqlite3_get_autocommit(db_) != 0)
    throw error{
        errc::wrong_transaction_state,
        "no transaction is open on this connection, so the lock would end before the call returns; BEGIN first"};
}

}  // namespace driver

namespace detail {

namespace {

constexpr duration longest_wait = std::chrono::seconds{5};

// Tries again while other connections have the file locked, for at most the time of a call.
void execute_patiently(caller_transaction& on, const char* sql) {
  const auto deadline = base::now() + longest_wait;
  for (int polls = 0;; ++polls) {
    try {
      on.execute(sql, {});
      return;
    } catch (const error& e) {
      const bool is_busy = (e.native_code() & 0xFF) == SQLITE_BUSY;
      if (!is_busy || base::now() >= deadline) throw;
    }
    std::this_thread::sleep_for(core::lock_poll_pause(polls));
  }
}

}  // namespace

std::optional<transaction_lock> lock_in(sqlite3* tx, client& locks, const lock_name& name, std::optional<duration> wait,
                                        const lock_in_options& options, const std::stop_token& stop) {
  driver::sqlite_caller bridge{tx};
  bridge.require_transaction();
  return lock_in(bridge, locks, name, wait, options, stop);
}

struct sqlite_attempt::state {
  explicit state(sqlite3* db) : bridge{db} {}
  driver::sqlite_caller bridge;
};

sqlite_attempt::sqlite_attempt(sqlite3* connection) : state_{std::make_unique<state>(connection)} {
  if (sqlite3_get_autocommit(connection) == 0)
    throw error{errc::wrong_transaction_state,
                "a transaction is open on this connection, and optimistically() begins its own; commit it or roll it "
                "back first"};
  execute_patiently(state_->bridge, "BEGIN IMMEDIATE");
}

sqlite_attempt::~sqlite_attempt() {
  if (sqlite3_get_autocommit(handle()) != 0) return;
  try {
    state_->bridge.execute("ROLLBACK", {});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): SQLite has rolled back by itself
  }
}

sqlite3* sqlite_attempt::handle() const noexcept { return state_->bridge.handle(); }
caller_transaction& sqlite_attempt::bridge() noexcept { return state_->bridge; }

// In a file that is not in WAL mode, a commit has to wait for readers.
void sqlite_attempt::commit() { execute_patiently(state_->bridge, "COMMIT"); }

}  // namespace detail

void confirm(sqlite3* tx, const held_lock& held) {
  driver::sqlite_caller bridge{tx};
  bridge.require_transaction();
  detail::confirm(bridge, held);
}

}  // namespace rowlock::inline v1
