#include <gtest/gtest.h>
#include <rowlock/interop/sqlite3.hpp>
#include <rowlock/rowlock.hpp>

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>

#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/sqlite_database.hpp"
#include "testkit/temp_folder.hpp"
#include "transaction/caller.hpp"

// SQLite: which file a transaction is on.

namespace rowlock::test {
namespace {

class locks_in_a_file : public testing::Test {
 protected:
  locks_in_a_file() { locks_.migrate(); }

  static std::unique_ptr<caller> open(const std::filesystem::path& file) {
    return open_caller("sqlite:" + file.string(), "deferred");
  }
  /// A file of the program's own, to which the locks are attached.
  std::unique_ptr<caller> open_shop() const {
    auto out = open(folder_ / "shop.db");
    out->statement("PRAGMA journal_mode = WAL");
    out->statement("CREATE TABLE own (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)");
    out->statement("INSERT INTO own (id, n) VALUES (1, 0)");
    out->statement("ATTACH '" + here_.file().string() + "' AS held");
    return out;
  }
  static bool can_have(client& locks) try {
    return locks.try_acquire("orders/42").has_value();
  } catch (const error& e) {
    if (!e.is_retryable()) throw;
    return false;  // somebody else is writing
  }

  sqlite_database here_;
  temp_folder folder_;
  client locks_ = client::connect(here_.url(), {.call_timeout = 400ms, .observer = silent()});
};

TEST_F(locks_in_a_file, of_which_a_transaction_has_a_copy_are_not_locked) {
  locks_.acquire("orders/42").release();
  const auto file = folder_ / "copy.db";
  open(here_.file())->statement("VACUUM INTO '" + file.string() + "'");
  sqlite_database copy{file};
  const auto before = copy.row("orders/42").value();
  const auto held = locks_.acquire("orders/43");

  const auto tx = open(file);
  tx->begin();
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { tx->lock_in(locks_, "orders/42"); }));
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { static_cast<void>(tx->try_lock_in(locks_, "orders/42")); }));
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { tx->confirm(held); }));
  tx->commit();
  EXPECT_TRUE(throws(errc::wrong_transaction_state,
                     [&] { tx->optimistically_without_result(locks_, "orders/42", [] { FAIL() << "it is run"; }); }));
  EXPECT_EQ(copy.row("orders/42")->version, before.version);
  EXPECT_TRUE(can_have(locks_));
}

TEST_F(locks_in_a_file, by_another_path_are_the_same) {
  const auto link = folder_ / "link.db";
  std::filesystem::create_symlink(here_.file(), link);
  const auto tx = open(link);
  tx->begin();
  tx->lock_in(locks_, "orders/42");
  EXPECT_FALSE(can_have(locks_));
  tx->commit();
  EXPECT_TRUE(can_have(locks_));
}

TEST_F(locks_in_a_file, that_is_attached_are_locked_with_the_transaction) {
  const auto tx = open_shop();
  for (const bool commits : {false, true}) {
    tx->begin();
    tx->lock_in(locks_, "orders/42");
    tx->statement("UPDATE own SET n = n + 1 WHERE id = 1");
    EXPECT_FALSE(can_have(locks_));
    commits ? tx->commit() : tx->rollback();
    EXPECT_TRUE(can_have(locks_));
  }
  EXPECT_EQ(tx->number("SELECT n FROM own"), 1);

  const auto held = locks_.acquire("orders/42");
  tx->begin();
  EXPECT_FALSE(tx->try_lock_in(locks_, "orders/42").has_value());
  EXPECT_NO_THROW(tx->confirm(held));
  tx->commit();
  const auto result = tx->optimistically(locks_, "orders/43", [&](attempt) { return tx->number("SELECT n FROM own"); });
  EXPECT_EQ(result, 1);
}

// Each file has a snapshot of its own, and nobody finds that of the other to be old.
TEST_F(locks_in_a_file, that_is_attached_are_refused_to_a_transaction_that_has_read_the_other_file) {
  const auto tx = open_shop();
  locks_.acquire("orders/42").release();
  tx->begin();
  tx->statement("SELECT count(*) FROM own");
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { tx->lock_in(locks_, "orders/42"); }));
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { static_cast<void>(tx->try_lock_in(locks_, "orders/42")); }));
  tx->rollback();
  tx->begin();
  EXPECT_NO_THROW(tx->lock_in(locks_, "orders/42"));
  tx->statement("SELECT count(*) FROM own");
  EXPECT_NO_THROW(tx->lock_in(locks_, "orders/42")) << "what was read under the lock is young enough";
  tx->rollback();
}

// The client goes on in the file that is there now. What was opened before is another one.
TEST_F(locks_in_a_file, that_was_replaced_are_locked_where_the_client_goes_on) {
  locks_.acquire("orders/42").release();
  sqlite_database other;
  client::connect(other.url(), {.observer = silent()}).migrate();
  const auto before = open(here_.file());
  before->begin();
  EXPECT_NO_THROW(before->lock_in(locks_, "orders/42"));
  before->rollback();
  before->text("PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::rename(other.file(), here_.file());
  const auto tx = open(here_.file());
  tx->begin();
  EXPECT_NO_THROW(tx->lock_in(locks_, "orders/42"));
  EXPECT_FALSE(can_have(locks_));
  tx->rollback();
  before->begin();
  EXPECT_TRUE(error_of([&] { before->lock_in(locks_, "orders/42"); }));
  before->rollback();
}

TEST_F(locks_in_a_file, are_refused_to_a_transaction_whose_log_was_removed) {
  const auto held = locks_.acquire("orders/42");
  const auto tx = open(here_.file());
  tx->begin();
  EXPECT_NO_THROW(tx->confirm(held));
  tx->rollback();
  std::filesystem::remove(here_.file().string() + "-shm");
  std::optional<error> refused;
  ASSERT_TRUE(eventually([&] {
    tx->begin();
    refused = error_of([&] { tx->confirm(held); });
    if (!refused) tx->rollback();
    return refused.has_value();
  }));
  EXPECT_EQ(refused->code(), errc::connection_failed);
  EXPECT_TRUE(mentions(refused, "-shm was deleted, moved or replaced")) << refused->what();
  tx->rollback();
}

// Nothing is left on the connection that would keep it from being closed.
TEST_F(locks_in_a_file, need_one_statement_each_where_the_connection_is_known) {
  sqlite3* tx = nullptr;
  ASSERT_EQ(sqlite3_open(here_.file().c_str(), &tx), SQLITE_OK);
  const auto held = locks_.acquire("orders/43");
  locks_.acquire("orders/42").release();
  int statements = 0;
  const auto count = [](unsigned, void* to, void*, void*) { return ++*static_cast<int*>(to), 0; };
  sqlite3_trace_v2(tx, SQLITE_TRACE_STMT, count, &statements);
  const auto added_by = [&](auto call) {
    sqlite3_exec(tx, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    const int before = statements;
    call();
    const int added = statements - before;
    sqlite3_exec(tx, "COMMIT", nullptr, nullptr, nullptr);
    return added;
  };
  for (const int more : {1, 0}) {
    EXPECT_EQ(added_by([&] { lock_in(tx, locks_, "orders/42"); }), 1 + more);
    EXPECT_EQ(added_by([&] { confirm(tx, held); }), 1);
  }
  const int before = statements;
  optimistically(tx, locks_, "orders/42", [](sqlite3*) {});
  EXPECT_EQ(statements - before, 4) << "of which two are BEGIN IMMEDIATE and COMMIT";
  EXPECT_EQ(sqlite3_close(tx), SQLITE_OK);
}

// A statement that names no file finds the tables of the main one first.
TEST_F(locks_in_a_file, that_is_attached_are_never_mistaken_for_those_of_the_main_file) {
  locks_.acquire("orders/42").release();
  const auto copy = folder_ / "copy.db";
  open(here_.file())->statement("VACUUM INTO '" + copy.string() + "'");
  sqlite_database other;
  client::connect(other.url(), {.observer = silent()}).migrate();
  for (const auto& main : {copy, other.file()}) {
    const auto tx = open(main);
    tx->statement("ATTACH '" + here_.file().string() + "' AS held");
    tx->begin();
    const auto e = error_of([&] { return tx->lock_in(locks_, "orders/42"); });
    if (e) {
      EXPECT_EQ(e->code(), errc::wrong_transaction_state) << e->what();
    } else {
      EXPECT_FALSE(can_have(locks_)) << "it has locked something else";
    }
    tx->rollback();
  }
}

}  // namespace
}  // namespace rowlock::test
