#include <gtest/gtest.h>
#include <sqlite3.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/slowness.hpp"
#include "support/sqlite_database.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

client_options quiet() { return {.observer = silent()}; }

client open(const std::string& url) { return client::connect(url, quiet()); }

/// Connecting and the first use: whichever of the two says what is wrong.
std::optional<error> error_of_first_use(const std::string& url) {
  return error_of([&] {
    auto locks = open(url);
    locks.migrate();
    return locks.acquire("orders/42");
  });
}

TEST(sqlite_file, is_made_where_there_is_none) {
  const temp_folder folder;
  const auto file = folder / "locks.db";
  auto locks = open("sqlite:" + file.string());
  locks.migrate();
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(sqlite_file, may_be_relative_to_the_working_folder) {
  const temp_folder folder;
  const auto relative = std::filesystem::relative(folder / "locks.db");
  auto locks = open("sqlite:" + relative.string());
  locks.migrate();
  const auto held = locks.acquire("orders/42");
  EXPECT_TRUE(sqlite_database{folder / "locks.db"}.row("orders/42").has_value());
}

TEST(sqlite_file, may_be_empty) {
  const temp_folder folder;
  const auto file = folder / "locks.db";
  std::ofstream{file}.close();
  EXPECT_FALSE(error_of_first_use("sqlite:" + file.string()).has_value());
}

TEST(sqlite_file, may_have_an_odd_name) {
  for (const auto* name : {"a b.db", "caf\xc3\xa9.db", "a?b=c.db", "a#b.db", "100%.db", "%41.db", "a&b.db", "a'b.db",
                           "a:b.db", "a+b.db", "-a.db"}) {
    const temp_folder folder;
    sqlite_database file{folder / name};
    auto locks = open(file.url());
    locks.migrate();
    const auto held = locks.acquire("orders/42");
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    EXPECT_TRUE(file.row("orders/42").has_value()) << name;
  }
}

TEST(sqlite_file, escapes_may_stand_for_any_byte) {
  const temp_folder folder;
  auto locks = open("sqlite:" + folder.path().string() + "/%6c%6F%63ks.d%62");
  locks.migrate();
  EXPECT_TRUE(std::filesystem::exists(folder / "locks.db"));
}

TEST(sqlite_file, two_urls_of_one_file_are_one_database) {
  const temp_folder folder;
  auto one = open("sqlite:" + folder.path().string() + "/locks.db");
  auto two = open("sqlite:" + folder.path().string() + "/./locks.d%62");
  one.migrate();
  const auto held = one.acquire("orders/42");
  EXPECT_FALSE(two.try_acquire("orders/42").has_value());
}

TEST(sqlite_file, that_is_no_database_is_an_error_and_stays_as_it_is) {
  const temp_folder folder;
  const auto file = folder / "notes.txt";
  const std::string text = std::string(4096, 'x') + "this is no database";
  std::ofstream{file} << text;
  const auto e = error_of_first_use("sqlite:" + file.string());
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::database_error) << e->what();
  EXPECT_FALSE(e->is_retryable());
  EXPECT_NE(e->native_code(), 0);
  std::ifstream back{file};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{back}, {}), text);
}

TEST(sqlite_file, in_a_missing_folder_is_a_failed_connection) {
  const temp_folder folder;
  const auto file = folder / "missing/locks.db";
  const auto e = error_of_first_use("sqlite:" + file.string());
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed) << e->what();
  EXPECT_TRUE(mentions(e, file.string())) << e->what();
  EXPECT_FALSE(std::filesystem::exists(file.parent_path()));
}

TEST(sqlite_file, that_is_a_folder_is_an_error) {
  const temp_folder folder;
  const auto e = error_of_first_use("sqlite:" + folder.path().string());
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->code() == errc::connection_failed || e->code() == errc::database_error) << e->what();
}

TEST(sqlite_file, may_hold_tables_of_the_application_too) {
  const temp_folder folder;
  const auto file = folder / "shop.db";
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(raw, "CREATE TABLE stock (item TEXT); INSERT INTO stock VALUES ('nail')", nullptr, nullptr, nullptr),
      SQLITE_OK);
  auto locks = open("sqlite:" + file.string());
  locks.migrate();
  const auto held = locks.acquire("orders/42");
  EXPECT_EQ(sqlite3_exec(raw, "INSERT INTO stock VALUES ('screw')", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_close(raw), SQLITE_OK);
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST(sqlite_file, a_table_of_that_name_that_is_somebody_elses_is_an_error) {
  const temp_folder folder;
  const auto file = folder / "shop.db";
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "CREATE TABLE rowlock_lock (lake TEXT)", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_close(raw), SQLITE_OK);
  const auto e = error_of_first_use("sqlite:" + file.string());
  ASSERT_TRUE(e.has_value());
  EXPECT_NE(std::string{e->what()}, "");
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
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          const auto held = locks.acquire("orders/42");
          ++unprotected;
        }
      });
  }
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
