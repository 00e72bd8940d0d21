#include <gmock/gmock.h>
#include <sqlite3.h>

#include <memory>
#include <string>

#include "command/command.hpp"

// That what is printed is what is sent: tests/driver/golden_test.cpp.

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class command_sql : public command {
 protected:
  static outcome print(const std::string& url, const words& arguments) {
    return finish({.words = words{path(), "sql"} + arguments,
                   .environment = {"ROWLOCK_DATABASE=" + url, "ROWLOCK_DATABASE_FILE"}});
  }
  /// The text, and that it ended well.
  static std::string printed(const std::string& url, const words& arguments = {}) {
    const auto result = print(url, arguments);
    EXPECT_EQ(result.end, exited(0)) << result;
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }
};

TEST_F(command_sql, is_a_sheet_with_its_comments_and_needs_no_server) {
  for (const auto* url : {"sqlite:", "postgresql:", "postgresql://nobody@127.0.0.1:1/none", "mysql:", "mariadb:"}) {
    const auto text = printed(url);
    EXPECT_THAT(text, StartsWith("-- The statements that rowlock ")) << url;
    for (const auto* line : {"\n-- Every statement that rowlock ", "\n-- ---- Acquiring ---",
                             "\n\n-- name: renew(name, acquisition, lease) -> ", "\n-- locks: ", "\n-- clock: ",
                             "\n-- no row: ", "\n-- none: ", "\n-- name: enlisted.pin(name, acquisition"})
      EXPECT_NE(text.find(line), std::string::npos) << url << line;
  }
}

TEST_F(command_sql, is_what_sqlite_can_prepare) {
  sqlite3* opened = nullptr;
  ASSERT_EQ(sqlite3_open(database_.file().c_str(), &opened), SQLITE_OK);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> on{opened, sqlite3_close};
  const auto nothing = [](sqlite3_context*, int, sqlite3_value**) {};
  const auto add = [&](const char* name, int arguments) {
    return sqlite3_create_function(on.get(), name, arguments, SQLITE_UTF8, nullptr, nothing, nullptr, nullptr);
  };
  ASSERT_EQ(add("clock_us", 0) + add("tell", 2) + add("is_dead", 2), 3 * SQLITE_OK);
  const auto text = printed(database_.url());
  int statements = 0;
  for (const char* rest = text.c_str(); *rest != '\0';) {
    sqlite3_stmt* made = nullptr;
    const auto* const begin = rest;
    ASSERT_EQ(sqlite3_prepare_v2(on.get(), begin, -1, &made, &rest), SQLITE_OK) << sqlite3_errmsg(on.get()) << begin;
    if (made != nullptr) ++statements;
    sqlite3_finalize(made);
  }
  EXPECT_GT(statements, 60);
}

TEST_F(command_sql, has_the_table_prefix) {
  for (const auto* url : {"sqlite:", "postgresql:", "mysql:"}) {
    const auto text = printed(url, {"raise_floor", "--table-prefix", "mine_"});
    EXPECT_THAT(text, AllOf(HasSubstr("mine_share "), Not(HasSubstr("rowlock_share")))) << url;
  }
}

TEST_F(command_sql, is_one_verb_where_it_is_named) {
  const auto text = printed("postgresql:", {"renew"});
  EXPECT_THAT(text,
              AllOf(StartsWith("-- The statements that rowlock sends to PostgreSQL"), HasSubstr("\n\n-- name: renew("),
                    HasSubstr("$3::bigint"), Not(HasSubstr("-- name: extend("))));
  EXPECT_THAT(printed("sqlite:", {"ring"}), HasSubstr("\n-- none: SQLite cannot notify\n"));
  EXPECT_THAT(printed("mysql:", {"enlisted.isolation"}), HasSubstr("@@transaction_isolation"));
  EXPECT_THAT(printed("mariadb:", {"enlisted.isolation"}), HasSubstr("@@tx_isolation"));
  EXPECT_THAT(printed("mysql:", {"extend"}), HasSubstr("\n-- arguments: name, acquisition"));
}

TEST_F(command_sql, refuses_a_verb_that_there_is_not) {
  const auto similar = print("sqlite:", {"acquir"});
  EXPECT_TRUE(refused(similar, 64));
  EXPECT_EQ(similar.err, "rowlock: there is no verb \"acquir\"; did you mean acquire?\n");
  const auto other = print("sqlite:", {"lock"});
  EXPECT_TRUE(refused(other, 64));
  EXPECT_EQ(other.err, "rowlock: there is no verb \"lock\"; rowlock sql prints all of them\n");
}

TEST_F(command_sql, depends_on_options_of_programs) {
  const std::string setting = "set_config('synchronous_commit', 'o";
  EXPECT_THAT(printed("postgresql:", {"renew"}), Not(HasSubstr(setting)));
  EXPECT_THAT(printed("postgresql:", {"renew", "--transaction-pooling"}), HasSubstr(setting + "n', true)"));
  EXPECT_THAT(printed("postgresql:", {"release"}), HasSubstr(setting + "ff', true)"));
  EXPECT_THAT(printed("postgresql:", {"release", "--durable-release"}), Not(HasSubstr(setting + "ff', true)")));
  for (const auto* url : {"sqlite:", "mysql:"}) EXPECT_TRUE(refused(print(url, {"--transaction-pooling"}), 64)) << url;
  EXPECT_TRUE(refused(print("sqlite:", {"--durable-release"}), 64));
}

TEST_F(command_sql, is_of_a_database_that_it_knows) {
  EXPECT_TRUE(refused(print("nonsense:", {}), 64));
  EXPECT_TRUE(refused(print("locks.db", {}), 64));
}

}  // namespace
}  // namespace rowlock::test
