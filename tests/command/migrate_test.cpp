#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

class command_migrate : public command {
 protected:
  /// Of a file that nobody has used yet.
  outcome migrate(const words& arguments) {
    return finish({.words = words{path(), "--database", fresh_.url(), "migrate"} + arguments});
  }
  /// As `rowlock migrate --dry-run | sqlite3 -bail FILE`.
  outcome run_by_hand(const std::string& sql) {
    return finish({.words = {"sqlite3", "-bail", fresh_.file().string()}, .input = sql});
  }

  sqlite_database fresh_;
};

TEST_F(command_migrate, by_many_at_once_is_done_once) {
  std::vector<std::unique_ptr<program>> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(std::make_unique<program>(launch{.words = {path(), "--database", fresh_.url(), "migrate"}}));
  for (auto& each : all) {
    EXPECT_EQ(each->wait(), exited(0)) << each->err();
    EXPECT_THAT(each->out(), IsEmpty());
  }
  EXPECT_EQ(fresh_.newest_migration(), database_.newest_migration());
}

TEST_F(command_migrate, under_a_holder_leaves_him_alone) {
  const auto held = locks_.acquire("job");
  EXPECT_EQ(finish(rowlock({"migrate"})).end, exited(0));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(is_free("job"));
}

TEST_F(command_migrate, that_is_dry_prints_what_is_missing_and_changes_nothing) {
  const auto result = migrate({"--dry-run"});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out, AllOf(HasSubstr("CREATE TABLE IF NOT EXISTS rowlock_lock"), HasSubstr("rowlock_waiter")));
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_FALSE(fresh_.has_table("rowlock_lock"));
}

TEST_F(command_migrate, that_is_dry_prints_what_can_be_run_by_hand) {
  const auto result = migrate({"--dry-run", "--table-prefix", "special_"});
  EXPECT_THAT(result.out, Not(HasSubstr("rowlock_")));
  EXPECT_EQ(run_by_hand(result.out).end, exited(0));
  EXPECT_EQ(migrate({"--status", "--table-prefix", "special_"}).end, exited(0));
  EXPECT_EQ(migrate({"--status"}).end, exited(78)) << "each prefix has tables of its own";
}

TEST_F(command_migrate, that_is_dry_prints_nothing_where_nothing_is_missing) {
  const auto result = finish(rowlock({"migrate", "--dry-run"}));
  EXPECT_EQ(result.end, exited(0));
  EXPECT_THAT(result.out + result.err, IsEmpty());
}

TEST_F(command_migrate, is_refused_where_a_file_was_edited) {
  database_.edit_migration(1);
  EXPECT_TRUE(refused(finish(rowlock({"migrate"})), 78));
  EXPECT_TRUE(refused(finish(rowlock({"migrate", "--dry-run"})), 78));
}

TEST_F(command_migrate, is_refused_where_the_schema_no_longer_serves_this_program) {
  database_.record_migration(1000, 900);
  EXPECT_TRUE(refused(finish(rowlock({"migrate"})), 78));
  EXPECT_TRUE(refused(finish(rowlock({"migrate", "--dry-run"})), 78));
}

TEST_F(command_migrate, status_is_a_line_for_each_file) {
  database_.record_migration(1000, 1);
  const auto result = finish(rowlock({"migrate", "--status"}));
  EXPECT_EQ(result.end, exited(0)) << result;
  const std::string time = "[0-9]+-[0-9]+-[0-9]+T[0-9:]+Z";
  EXPECT_THAT(result.out, MatchesRegex("VERSION +STATE +APPLIED +FILE\n1 +applied +" + time +
                                       " +0001_rowlock.sql\n1000 +unknown +" + time + " +-\n"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(command_migrate, status_is_78_without_tables) {
  const auto result = migrate({"--status"});
  EXPECT_EQ(result.end, exited(78));
  EXPECT_THAT(result.out, MatchesRegex("VERSION +STATE +APPLIED +FILE\n1 +pending +- +0001_rowlock.sql\n"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(command_migrate, status_says_why_migrating_would_be_refused) {
  database_.edit_migration(1);
  const auto edited = finish(rowlock({"migrate", "--status"}));
  EXPECT_EQ(edited.end, exited(0)) << "the tables can be worked with";
  EXPECT_THAT(edited.err, HasSubstr("0001_rowlock.sql"));
  EXPECT_TRUE(is_messages(edited.err));
  database_.record_migration(1000, 900);
  EXPECT_EQ(finish(rowlock({"migrate", "--status"})).end, exited(78));
}

TEST_F(command_migrate, status_for_programs_is_an_object) {
  const auto empty = json::parse(migrate({"--status", "--json"}).out, nullptr, false);
  EXPECT_EQ(empty.at("applied"), 0);
  EXPECT_EQ(empty.at("expected"), 1);
  EXPECT_EQ(empty.at("fits"), false);
  EXPECT_EQ(empty.at("refusal"), nullptr);
  EXPECT_EQ(empty.at("migrations").at(0).at("applied_at"), nullptr);

  database_.forget_checksums();
  database_.record_migration(1000, 900);
  const auto result = finish(rowlock({"migrate", "--status", "--json"}));
  const auto found = json::parse(result.out, nullptr, false);
  EXPECT_EQ(result.end, exited(78));
  EXPECT_EQ(found.at("applied"), 1000);
  EXPECT_EQ(found.at("serves_from"), 900);
  EXPECT_TRUE(found.at("refusal").is_string());
  EXPECT_EQ(found.at("migrations").size(), 2U);
  EXPECT_EQ(found.at("migrations").at(0).at("version"), 1);
  EXPECT_EQ(found.at("migrations").at(0).at("file"), "0001_rowlock.sql");
  EXPECT_EQ(found.at("migrations").at(0).at("state"), "by_hand");
  EXPECT_EQ(found.at("migrations").at(1).at("state"), "unknown");
  EXPECT_EQ(found.at("migrations").at(1).at("file"), nullptr);
}

TEST_F(command_migrate, for_programs_prints_how_the_tables_stand_then) {
  const auto result = migrate({"--json"});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(json::parse(result.out, nullptr, false), json::parse(migrate({"--status", "--json"}).out, nullptr, false));
  EXPECT_EQ(json::parse(result.out, nullptr, false).at("applied"), 1);
}

TEST_F(command_migrate, that_is_dry_for_programs_prints_an_array) {
  const auto missing = json::parse(migrate({"--dry-run", "--json"}).out, nullptr, false);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].at("version"), 1);
  EXPECT_EQ(missing[0].at("file"), "0001_rowlock.sql");
  EXPECT_EQ(run_by_hand(missing[0].at("sql").get<std::string>()).end, exited(0));
  EXPECT_EQ(migrate({"--status"}).end, exited(0)) << "they are all there is to run";
  EXPECT_EQ(json::parse(migrate({"--dry-run", "--json"}).out, nullptr, false), json::array());
}

TEST_F(command_migrate, that_is_refused_prints_nothing_for_programs) {
  database_.edit_migration(1);
  EXPECT_TRUE(refused(finish(rowlock({"migrate", "--json"})), 78));
  EXPECT_TRUE(refused(finish(rowlock({"migrate", "--dry-run", "--json"})), 78));
}

TEST_F(command_migrate, takes_no_flags_that_contradict_each_other) {
  EXPECT_TRUE(refused(migrate({"--dry-run", "--status"}), 64));
  EXPECT_FALSE(fresh_.has_table("rowlock_lock"));
}

}  // namespace
}  // namespace rowlock::test
