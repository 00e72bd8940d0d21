#include "sql/loader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// That the sheets hold the statements that are sent: golden_test.cpp.

namespace rowlock::test {
namespace {

struct sheet {
  const char* database;
  std::string_view text;
};
std::vector<sheet> all_sheets() {
  return {
      {"sqlite", sheets::sqlite_text()},
#ifdef ROWLOCK_WITH_POSTGRESQL
      {"postgresql", sheets::postgresql_text()},
#endif
#ifdef ROWLOCK_WITH_MYSQL
      {"mysql", sheets::mysql_text()},
#endif
  };
}

bool is_enlisted(const sheets::entry& e) { return e.name.starts_with("enlisted."); }

bool has_statement(const sheets::entry& e) {
  return std::any_of(e.slots.begin(), e.slots.end(), [](const auto& s) { return !s.statement.empty(); });
}

const sheets::entry* find(std::span<const sheets::entry> in, std::string_view name) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const auto& e) { return e.name == name; });
  return found == in.end() ? nullptr : &*found;
}

std::string_view value(const sheets::entry* of, std::string_view key) {
  const auto* const slot = of->find(key);
  return slot == nullptr ? "" : slot->value;
}

TEST(sheet_test, of_every_database_has_all_verbs_with_the_same_arguments_and_columns) {
  const auto first = sheets::read_sheet(all_sheets().front().text);
  for (const auto& [database, text] : all_sheets()) {
    const auto entries = sheets::read_sheet(text);
    for (std::size_t i = 0; i < sheets::sheet::size; ++i) {
      const auto verb = sheets::name_of(static_cast<sheets::verb>(i));
      const auto* const found = find(entries, verb);
      ASSERT_NE(found, nullptr) << database << " lacks " << verb;
      EXPECT_EQ(found->arguments, find(first, verb)->arguments) << database << ": " << verb;
      EXPECT_EQ(found->columns, find(first, verb)->columns) << database << ": " << verb;
      EXPECT_EQ(value(found, "doing"), sheets::doing(static_cast<sheets::verb>(i))) << database << ": " << verb;
      EXPECT_NE(value(found, "does"), "") << database << ": " << verb;
    }
    const auto verbs = std::count_if(entries.begin(), entries.end(), [](const auto& e) { return !is_enlisted(e); });
    EXPECT_EQ(static_cast<std::size_t>(verbs), sheets::sheet::size) << database << " has one twice";
  }
}

TEST(sheet_test, says_of_every_statement_what_it_locks_and_of_every_verb_that_is_lacking_why) {
  for (const auto& [database, text] : all_sheets())
    for (const auto& each : sheets::read_sheet(text)) {
      if (is_enlisted(each)) continue;
      const auto* const why = each.find("none");
      for (const auto* key : {"locks", "clock", "no row"})
        EXPECT_NE(each.find(key) == nullptr, why == nullptr) << database << ": " << each.name << ": " << key;
      EXPECT_TRUE(why == nullptr || !has_statement(each)) << database << ": " << each.name;
    }
}

sheets::step made(const std::string& text) {
  const auto table = sheets::sheet_of(sheets::read_sheet(text), {}, {.prefix = "rowlock_", .place = "there."});
  return table[sheets::verb::renew];
}

TEST(sheet_test, numbers_arguments_as_they_are_named) {
  const auto renew = made(
      "-- name: renew(name, acquisition, lease) -> acquisition, left\n"
      "-- rules: counts\n"
      "-- write: a comment\n"
      "UPDATE rowlock_lock SET expires_at = :lease::text || ':name'\n"
      "  -- another\n"
      "WHERE name = :name;\n");
  EXPECT_EQ(renew.write, "\nUPDATE there.rowlock_lock SET expires_at = ?3::text || ':name'\nWHERE name = ?1");
  EXPECT_EQ(renew.key, 1);
  EXPECT_TRUE(renew.counts);
  EXPECT_EQ(renew.read, std::nullopt);
}

TEST(sheet_test, takes_a_statement_of_another_verb) {
  const auto renew = made(
      "-- name: extend(acquisition, name) -> acquisition, left\n-- write: \nSELECT :name;\n"
      "-- name: renew(name, acquisition) -> acquisition, left\n-- write: as extend\n");
  EXPECT_EQ(renew.write, "SELECT ?1");
}

TEST(sheet_test, is_refused_where_it_is_wrong) {
  const std::string head = "-- name: renew(name, acquisition, lease) -> acquisition, left\n";
  for (const auto* text : {"-- write:\nSELECT :nome;\n", "-- write:\nSELECT 1\n", "-- write: as nothing\n",
                           "-- rules: nothing\n-- write:\nSELECT 1;\n", "-- locks: none\nSELECT 1;\n",
                           "-- write:\nSELECT 1;\n-- write:\nSELECT 2;\n",
                           "-- name: renews() -> left\n-- read:\nSELECT 1;\n", "-- name: extend(name) left\n"})
    EXPECT_THROW(made(head + text), std::logic_error) << text;
  EXPECT_THROW(made("-- write:\nSELECT 1;\n"), std::logic_error);
}

std::vector<sheets::passage> printed(std::string_view text) {
  const auto entries = sheets::read_sheet(text);
  return sheets::passages_of(
      "-- Head.\n", text,
      {sheets::sheet_of(entries, {}, {.prefix = "my_", .place = ""}), sheets::enlisted_of(entries, {}, "my_")},
      [](const std::string& sent, const sheets::entry& of, std::string_view key) {
        return "-- " + std::string{of.name}.append(" ").append(key) + "\n" + sent;
      });
}

TEST(sheet_test, is_printed_with_its_comments_and_what_is_sent) {
  const auto all = printed(
      "-- Of all: prose.\n"
      "\n"
      "-- name: extend(acquisition, name) -> acquisition, left\n"
      "-- locks: the row\n"
      "-- read: why,\n"
      "--   at length\n"
      "SELECT :acquisition\n"
      "  -- in between\n"
      "FROM rowlock_lock;\n"
      "-- batch:\n"
      "SELECT :name;\n"
      "\n"
      "-- ---- Next ----\n"
      "\n"
      "-- name: renew(name, acquisition) -> acquisition, left\n"
      "-- read: as extend\n"
      "-- name: hold(name) -> name\n"
      "-- none: no rows\n"
      "-- name: enlisted.pin(name, acquisition) -> left\n"
      "-- read:\n"
      "SELECT version FROM rowlock_lock WHERE name = :name;\n");
  const std::vector<std::pair<std::string, std::string>> expected{
      {"", "-- Head.\n"},
      {"", "-- Of all: prose.\n"},
      {"extend",
       "-- name: extend(acquisition, name) -> acquisition, left\n-- locks: the row\n-- read: why,\n--   at length\n"
       "  -- in between\n-- extend read\nSELECT ?1\nFROM my_lock;\n-- batch:\n-- extend batch\nSELECT ?2;\n"},
      {"", "-- ---- Next ----\n"},
      {"renew",
       "-- name: renew(name, acquisition) -> acquisition, left\n-- read: as extend\n-- renew read\nSELECT ?2\n"
       "FROM my_lock;\n"},
      {"hold", "-- name: hold(name) -> name\n-- none: no rows\n"},
      {"enlisted.pin",
       "-- name: enlisted.pin(name, acquisition) -> left\n-- read:\n-- enlisted.pin read\n"
       "SELECT version FROM my_lock WHERE name = ?1;\n"}};
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& each : all) found.emplace_back(each.name, each.text);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace rowlock::test
