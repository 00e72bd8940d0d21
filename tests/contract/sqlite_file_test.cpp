#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/seed.hpp"
#include "support/slowness.hpp"
#include "support/sqlite_database.hpp"
#include "support/test_thread.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"
#include "testkit/url.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

client_options quiet() { return {.observer = silent()}; }

client open(const std::string& url) { return client::connect(url, quiet()); }

/// As another program does it.
void run_sql(const std::filesystem::path& file, const std::string& sql) { sqlite_database{file}.execute(sql); }

/// Connecting and the first use: whichever of the two says what is wrong.
std::optional<error> error_of_first_use(const std::string& url) {
  return error_of([&] {
    auto locks = open(url);
    locks.migrate();
    return locks.acquire("orders/42");
  });
}

class sqlite_file : public testing::Test {
 protected:
  const temp_folder folder_;
};

TEST_F(sqlite_file, is_made_where_its_url_says_and_may_be_empty_or_have_an_odd_name) {
  const std::string folder = folder_.path().string();
  std::ofstream{folder_ / "empty.db"}.close();
  std::vector<std::pair<std::string, std::string>> all{
      {"sqlite:" + folder + "/locks.db", "locks.db"},
      {"sqlite:" + folder + "/empty.db", "empty.db"},
      {"sqlite:" + std::filesystem::relative(folder_ / "relative.db").string(), "relative.db"},
      {"sqlite:" + folder + "/%65%73%63%61pe.d%62", "escape.db"}};
  for (const auto* name : {"a b.db", "caf\xc3\xa9.db", "a?b=c.db", "a#b.db", "100%.db", "%41.db", "a&b.db", "a'b.db",
                           "a:b.db", "a+b.db", "-a.db"})
    all.emplace_back(sqlite_url((folder_ / name).string()), name);
  for (const auto& [url, name] : all) {
    auto locks = open(url);
    locks.migrate();
    EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << url;
    const auto held = locks.acquire("orders/42");
    EXPECT_TRUE(sqlite_database{folder_ / name}.row("orders/42").has_value()) << url;
  }
}

TEST_F(sqlite_file, in_a_missing_folder_or_that_is_a_folder_is_an_error) {
  const auto file = folder_ / "missing/locks.db";
  const auto of_missing = error_of_first_use("sqlite:" + file.string());
  EXPECT_TRUE(is_error(of_missing, errc::connection_failed, {.says = {file.string()}}));
  EXPECT_FALSE(std::filesystem::exists(file.parent_path()));
  const auto of_folder = error_of_first_use("sqlite:" + folder_.path().string());
  ASSERT_TRUE(of_folder.has_value());
  EXPECT_TRUE(of_folder->code() == errc::connection_failed || of_folder->code() == errc::database_error);
}

TEST_F(sqlite_file, two_urls_of_one_file_are_one_database) {
  auto one = open("sqlite:" + folder_.path().string() + "/locks.db");
  auto two = open("sqlite:" + folder_.path().string() + "/./locks.d%62");
  one.migrate();
  const auto held = one.acquire("orders/42");
  EXPECT_FALSE(two.try_acquire("orders/42").has_value());
}

TEST_F(sqlite_file, that_is_no_database_is_an_error_and_stays_as_it_is) {
  const auto file = folder_ / "notes.txt";
  const std::string text = std::string(4096, 'x') + "this is no database";
  std::ofstream{file} << text;
  const auto e = error_of_first_use("sqlite:" + file.string());
  ASSERT_TRUE(is_error(e, errc::database_error, {.is_retryable = false}));
  EXPECT_NE(e->native_code(), 0);
  std::ifstream back{file};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{back}, {}), text);
}

// The disk has the file as it was at the last checkpoint, and the log up to some byte; what follows is missing, or is
// anything.
TEST_F(sqlite_file, after_a_power_loss_is_whole_and_its_tokens_grow) {
  namespace fs = std::filesystem;
  const auto file = folder_ / "locks.db";
  const auto log_of = [](const fs::path& of) { return of.string() + "-wal"; };
  const std::vector<std::string> names{"orders/42", "orders/43", "orders/44"};
  auto locks = open("sqlite:" + file.string());
  locks.migrate();
  run_sql(file, "PRAGMA wal_checkpoint(TRUNCATE)");
  std::map<std::string, fencing_token> newest;
  for (int i = 0; i < 30; ++i)
    for (const auto& name : names) newest[name] = locks.acquire(name, {.lease = 100ms}).token();
  const auto size = fs::file_size(log_of(file));
  ASSERT_GT(size, 0U);
  std::minstd_rand dice{seed()};
  for (int i = 0; i < 60; ++i) {
    const temp_folder other;
    const auto left = other / "locks.db";
    fs::copy(file, left);
    fs::copy(log_of(file), log_of(left));
    const auto cut = std::uniform_int_distribution<std::uintmax_t>{0, size}(dice);
    fs::resize_file(log_of(left), cut);
    if (i % 2 == 0) std::ofstream{log_of(left), std::ios::app} << std::string(size - cut, static_cast<char>(dice()));
    auto after = open("sqlite:" + left.string());
    for (const auto& name : names) EXPECT_GT(after.acquire(name).token(), newest.at(name)) << cut << " of " << size;
    EXPECT_EQ(sqlite_database{left}.text("PRAGMA integrity_check"), "ok") << cut << " of " << size;
  }
}

TEST_F(sqlite_file, may_hold_tables_of_the_application_too) {
  const auto file = folder_ / "shop.db";
  run_sql(file, "CREATE TABLE stock (item TEXT); INSERT INTO stock VALUES ('nail')");
  auto locks = open("sqlite:" + file.string());
  locks.migrate();
  const auto held = locks.acquire("orders/42");
  run_sql(file, "INSERT INTO stock VALUES ('screw')");
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(sqlite_file, a_table_of_that_name_that_is_somebody_elses_is_an_error) {
  const auto file = folder_ / "shop.db";
  run_sql(file, "CREATE TABLE rowlock_lock (lake TEXT)");
  const auto e = error_of_first_use("sqlite:" + file.string());
  ASSERT_TRUE(e.has_value());
  EXPECT_NE(std::string{e->what()}, "");
}

// --- what becomes of the file while it is open -----------------------------------------------------------------------

/// A file that is taken away from whoever has it open.
class sqlite_file_taken_away : public testing::Test {
 protected:
  sqlite_file_taken_away() { locks_.migrate(); }

  /// Moves the folder of the file away, and makes tables in another file of the same name.
  client replace_folder() const {
    std::filesystem::rename(in_, folder_ / "away");
    std::filesystem::create_directory(in_);
    auto others = open(url_);
    others.migrate();
    return others;
  }
  static void expect_lost_by_holder(const held_lock& held) {
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_NE(held.why_lost(), loss_reason::unreachable) << "it was noticed before the end of the lease";
  }

  const temp_folder folder_;
  const std::filesystem::path in_ = folder_ / "place";
  const std::filesystem::path file_ = in_ / "locks.db";
  const bool is_made_ = std::filesystem::create_directory(in_);
  const std::string url_ = "sqlite:" + file_.string();
  recorder told_;
  client locks_ = client::connect(url_, {.observer = told_.observer()});
};

TEST_F(sqlite_file_taken_away, by_deleting_it_ends_every_lock_in_it) {
  const auto held = locks_.acquire("orders/42", {.lease = 6s});
  for (const auto* each : {"", "-wal", "-shm"}) std::filesystem::remove(file_.string() + each);
  auto others = open(url_);
  others.migrate();
  const auto next = others.try_acquire("orders/42");
  EXPECT_TRUE(next.has_value());
  expect_lost_by_holder(held);
  EXPECT_FALSE(next->lost().stop_requested());
  EXPECT_TRUE(eventually([&] { return told_.warnings().size() == 1; }));
  const auto sentence = told_.warnings().at(0).sentence;
  EXPECT_NE(sentence.find("replaced while it was open"), std::string::npos) << sentence;
  EXPECT_FALSE(locks_.try_acquire("orders/42").has_value()) << "it goes on in the new one";
}

// Connections that have the old log and its index see nothing of those that come later. When they are closed, what they
// have written is in the file itself.
TEST_F(sqlite_file_taken_away, but_for_its_log_is_opened_anew) {
  for (const auto& removed : std::vector<std::vector<std::string>>{{"-wal"}, {"-shm"}, {"-wal", "-shm"}}) {
    const auto file = file_.string() + removed.front() + std::to_string(removed.size());
    recorder told;
    auto locks = client::connect("sqlite:" + file, {.observer = told.observer()});
    locks.migrate();
    const auto held = locks.acquire("orders/42", {.lease = 3s});
    const auto token = held.token();
    for (const auto& each : removed) std::filesystem::remove(file + each);
    ASSERT_TRUE(eventually([&] { return !told.warnings().empty(); })) << removed.front();
    const auto sentence = told.warnings().at(0).sentence;
    EXPECT_NE(sentence.find(file + removed.front() + " was deleted"), std::string::npos) << sentence;
    auto others = open("sqlite:" + file);
    EXPECT_TRUE(eventually([&] { return !error_of([&] { return others.find("orders/42"), true; }); }));
    EXPECT_EQ(others.find("orders/42").value().token, token);
    EXPECT_FALSE(others.try_acquire("orders/42").has_value());
    EXPECT_FALSE(held.lost().stop_requested());
  }
}

TEST_F(sqlite_file_taken_away, with_its_folder_ends_every_lock_in_it) {
  const auto held = locks_.acquire("orders/42", {.lease = 6s});
  const auto by_transaction = locks_.acquire("orders/43", {.strategy = strategy::for_update});
  auto others = replace_folder();
  expect_lost_by_holder(held);
  EXPECT_TRUE(others.try_acquire("orders/43").has_value());
  EXPECT_TRUE(eventually([&] { return by_transaction.lost().stop_requested(); }));
}

// What is in the copy counts: others find it there.
TEST_F(sqlite_file_taken_away, by_a_copy_of_it_goes_on_in_the_copy) {
  auto held = locks_.acquire("orders/42", {.lease = 3s});
  run_sql(file_, "VACUUM INTO '" + (in_ / "copy.db").string() + "'");
  for (const auto* each : {"-wal", "-shm"}) std::filesystem::remove(file_.string() + each);
  std::filesystem::rename(in_ / "copy.db", file_);
  sqlite_database copy{file_};
  const auto ends = copy.row("orders/42").value().expires_at;
  EXPECT_TRUE(eventually([&] { return copy.row("orders/42").value().expires_at > ends; })) << "it is renewed there";
  EXPECT_FALSE(held.lost().stop_requested());
  auto others = open(url_);
  EXPECT_FALSE(others.try_acquire("orders/42").has_value());
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(others.try_acquire("orders/42").has_value());
}

TEST_F(sqlite_file_taken_away, lets_a_waiter_wait_in_the_new_one) {
  const auto held = locks_.acquire("orders/42", {.lease = 10min, .renew = false});
  auto waiting = open(url_);
  background waiter{[&](std::stop_token stop) { return waiting.acquire("orders/42", {}, std::move(stop)).token(); }};
  ASSERT_TRUE(eventually([&] { return locks_.waiters("orders/42").size() == 1; }));
  const auto others = replace_folder();
  EXPECT_TRUE(eventually([&] { return waiter.is_done_within(1ms); }));
}

TEST(sqlite_memory, is_private_to_its_client) {
  auto one = open("sqlite::memory:");
  auto two = open("sqlite::memory:");
  one.migrate();
  EXPECT_TRUE(throws(errc::schema_missing, [&] { static_cast<void>(two.try_acquire("orders/42")); }));
  two.migrate();
  const auto held = one.acquire("orders/42");
  EXPECT_TRUE(two.try_acquire("orders/42").has_value());
  EXPECT_FALSE(one.try_acquire("orders/42").has_value());
}

TEST(sqlite_memory, serves_many_threads_of_its_client) {
  auto locks = open("sqlite::memory:");
  locks.migrate();
  int unprotected = 0;
  on_threads(6, [&](int) {
    for (int i = 0; i < 20; ++i) {
      const auto held = locks.acquire("orders/42");
      ++unprotected;
    }
  });
  EXPECT_EQ(unprotected, 120);
}

TEST(sqlite_memory, keeps_its_locks_for_as_long_as_it_lives) {
  auto locks = open("sqlite::memory:");
  locks.migrate();
  const auto held = locks.acquire("orders/42", {.lease = brisk_lease});
  const stopwatch watch;
  EXPECT_TRUE(eventually([&] { return watch.elapsed() > 2 * brisk_lease; }));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(locks.try_acquire("orders/42").has_value());
}

}  // namespace
}  // namespace rowlock::test
