#include <gmock/gmock.h>

#include "server/server_test.hpp"

// The complete messages about what may be wrong at connecting, as far as it takes a server; the others are in
// unit/connect_messages_test.cpp. As regular expressions, since the servers name hosts and tables in several ways.
namespace rowlock::test {
namespace {

class connect_messages : public on_each_server {
 protected:
  bool is_postgresql() const { return is_on("postgresql"); }
  bool is_mariadb() { return db().text("SELECT version()").find("MariaDB") != std::string::npos; }

  static std::string in_regex(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (std::string_view{".+*?()[]{}|^$\\"}.find(c) != std::string_view::npos) out.push_back('\\');
      out.push_back(c);
    }
    return out;
  }

  /// "PostgreSQL (db:5432/shop)"; before it has answered, a MariaDB counts as MySQL.
  std::string server(const std::string& database, bool has_answered) {
    const std::string kind = is_postgresql() ? "PostgreSQL" : has_answered && is_mariadb() ? "MariaDB" : "MySQL";
    return in_regex(kind + " (" + db().host() + ":" + std::to_string(db().port()) + "/" + database + ")");
  }

  /// Its sentence; no password is in it.
  static std::string said(errc expected, const std::string& sqlstate, const std::function<void()>& call) {
    const auto e = error_of(call);
    EXPECT_TRUE(is_error(e, expected, {.is_retryable = false}));
    if (!e) return {};
    EXPECT_TRUE(sqlstate.empty() || e->sqlstate() == sqlstate) << e->sqlstate();
    for (const auto* secret : {"hunter2-is-secret", "wrong-word"}) EXPECT_FALSE(mentions(e, secret)) << e->what();
    return e->what();
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(connect_messages);

TEST_P(connect_messages, of_a_wrong_password) {
  db().set_password("hunter2-is-secret");
  auto wrong = db().address();
  wrong.password = "wrong-word";
  const auto why = is_postgresql() ? "password authentication failed for user \"" + db().name() + "\""
                                   : "Access denied for user '" + db().name() + "'@'[^']*' \\(using password: YES\\)";
  EXPECT_THAT(
      said(errc::permission_denied, is_postgresql() ? "28P01" : "28000", [&] { connect_to(wrong.url()).close(); }),
      testing::MatchesRegex("connecting to " + server(wrong.database, false) + " failed: " + why +
                            "; check the user and the password in the URL"));
}

TEST_P(connect_messages, of_a_missing_database) {
  auto wrong = db().administrator();
  wrong.database = "no_such_database";
  const std::string why =
      is_postgresql() ? "database \"no_such_database\" does not exist" : "Unknown database 'no_such_database'";
  EXPECT_THAT(
      said(errc::connection_failed, is_postgresql() ? "3D000" : "42000", [&] { connect_to(wrong.url()).close(); }),
      testing::MatchesRegex("connecting to " + server("no_such_database", false) + " failed: " + why +
                            "; create it, or correct its name in the URL"));
}

TEST_P(connect_messages, of_missing_tables) {
  const std::string why = is_postgresql() ? "relation \"" + db().name() + "\\.rowlock_migration\" does not exist"
                                          : "Table '" + db().name() + "\\.rowlock_migration' doesn't exist";
  EXPECT_THAT(said(errc::schema_missing, "", [&] { static_cast<void>(connect_to(db().url()).try_acquire("job")); }),
              testing::MatchesRegex("reading the schema's version failed on " + server(db().address().database, true) +
                                    ": " + why + "; run client::migrate\\(\\), or the files in schema/" +
                                    (is_postgresql() ? "postgresql" : "mysql") + " by hand"));
}

TEST_P(connect_messages, of_a_schema_in_which_nothing_may_be_made) {
  db().forbid_making_tables();
  const std::string why = is_postgresql()
                              ? "permission denied for schema " + db().name()
                              : "CREATE command denied to user '" + db().name() + "'@'[^']*' for table [^;:]*";
  EXPECT_THAT(said(errc::permission_denied, "", [&] { connect_to(db().url()).migrate(); }),
              testing::MatchesRegex("migrating failed on " + server(db().address().database, true) + ": " + why +
                                    "; migrate as a " + (is_postgresql() ? "role that" : "user who") +
                                    " may create tables there"));
  EXPECT_FALSE(db().has_table("rowlock_lock"));
}

TEST_P(connect_messages, of_encryption_that_is_asked_for_where_there_is_none) {
  const bool encrypts = is_postgresql() ? db().text("SHOW ssl") == "on"
                        : is_mariadb()  ? db().number("SELECT @@have_ssl = 'YES'") == 1
                                        : db().number("SELECT @@ssl_cert <> ''") == 1;
  if (encrypts) GTEST_SKIP() << "this server encrypts";
  const std::vector<std::string> modes =
      is_postgresql() ? std::vector<std::string>{"?sslmode=require", "?sslmode=verify-ca", "?sslmode=verify-full"}
                      : std::vector<std::string>{"?ssl-mode=REQUIRED", "?ssl-mode=VERIFY_CA&ssl-ca=/dev/null",
                                                 "?ssl-mode=VERIFY_IDENTITY&ssl-ca=/dev/null"};
  for (const auto& mode : modes)
    EXPECT_TRUE(is_error(error_of([&] { connect_to(db().url() + mode).close(); }), errc::connection_failed)) << mode;
}

}  // namespace
}  // namespace rowlock::test
