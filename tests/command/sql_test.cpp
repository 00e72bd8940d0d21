#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "command/command.hpp"
#include "support/databases.hpp"
#include "support/server_database.hpp"

// That what is printed is what is sent: tests/driver/golden_test.cpp.

namespace rowlock::test {
namespace {

using command_sql = command;

std::string printed(const std::string& url) {
  const auto result = command::finish({.words = {command::path(), "sql", "--database", url}});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.err, "");
  return result.out;
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
  const auto text = printed("sqlite:");
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

/// Each statement of the text, prepared.
std::string preparing(const std::string& text,
                      const std::function<std::string(const std::string& statement)>& prepare) {
  std::istringstream lines{text};
  std::string statement;
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("--")) continue;
    statement.append(line).push_back('\n');
    if (line.back() != ';') continue;
    statement.resize(statement.size() - 2);
    out += prepare(std::exchange(statement, {})) + "\n";
  }
  return out;
}

class command_sql_on : public on_each_database {};
INSTANTIATE_TEST_SUITE_P(on, command_sql_on, testing::ValuesIn(server_databases()), database_name);

TEST_P(command_sql_on, is_what_the_server_can_prepare) {
  auto* const server = dynamic_cast<server_database*>(&db());
  client::connect(db().url(), {.observer = silent()}).migrate();
  const auto version = server->text("SELECT version()");
  const bool is_postgresql = version.starts_with("PostgreSQL");
  const std::string scheme = is_postgresql                                  ? "postgresql:"
                             : version.find("MariaDB") != std::string::npos ? "mariadb:"
                                                                            : "mysql:";
  const auto prepare = [&](const std::string& statement) {
    if (statement.starts_with("LOCK TABLE")) return "BEGIN;\n" + statement + ";\nROLLBACK;";  // PREPARE takes none
    return is_postgresql ? "PREPARE it AS " + statement + ";\nDEALLOCATE it;"
                         : "PREPARE it FROM " + server->quoted(statement) + ";";
  };
  const auto all = preparing(printed(scheme), prepare);
  EXPECT_GT(std::count(all.begin(), all.end(), ';'), 60);
  const auto result = command::finish({.words = {"sh", "-c", server->shell()}, .input = all});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace rowlock::test
