#include "mysql/mariadb_server.hpp"
#include "server/server_test.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

/// What only its start can give to a server.
struct with_own_server {
  std::optional<mariadb_server> server{};
};

std::unique_ptr<server_database> place_on(std::optional<mariadb_server>& server, std::vector<std::string> options) {
  return server.emplace(std::move(options)).open();
}

class started_with : protected with_own_server, public server_test {
 protected:
  explicit started_with(std::vector<std::string> options) : server_test{place_on(server, std::move(options))} {}

  std::optional<error> failure() {
    return error_of([&] { connect_to(db().url()).close(); });
  }
};

class sysdate_is_now : public started_with {
 protected:
  sysdate_is_now() : started_with{{"--sysdate-is-now"}} {}
};

TEST_F(sysdate_is_now, is_refused_with_a_sentence) {
  const auto e = failure();
  ASSERT_TRUE(is_error(e, errc::unsupported, {.is_retryable = false, .says = {"sysdate_is_now"}}));
}

class binary_log : public started_with {
 protected:
  binary_log() : started_with{{"--log-bin=log", "--binlog-format=STATEMENT"}} {}
};

TEST_F(binary_log, by_statement_is_refused_with_a_sentence) {
  const auto e = failure();
  ASSERT_TRUE(is_error(e, errc::unsupported, {.is_retryable = false, .says = {"binlog_format"}}));
  for (const auto* format : {"MIXED", "ROW"}) {
    db().execute("SET GLOBAL binlog_format = '" + std::string{format} + "'");
    auto locks = connect();
    EXPECT_NO_THROW(locks.check());
    EXPECT_TRUE(locks.try_acquire("orders/42").has_value()) << format;
  }
}

/// Nothing that rowlock needs to be otherwise.
class odd_options : public started_with {
 protected:
  odd_options()
      : started_with{{"--innodb-rollback-on-timeout", "--default-storage-engine=MyISAM", "--autocommit=0",
                      "--transaction-isolation=SERIALIZABLE", "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES",
                      "--default-time-zone=+05:45", "--character-set-server=utf32",
                      "--collation-server=utf32_general_ci", "--innodb-lock-wait-timeout=1"}} {}
};

TEST_F(odd_options, do_not_matter) {
  auto locks = connect();
  locks.check();
  EXPECT_EQ(db().number("SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '" + db().name() +
                        "' AND ENGINE <> 'InnoDB'"),
            0);
  auto held = locks.acquire("Straße", {.lease = 10s, .note = "für später"});
  auto other = locks.acquire("STRASSE", {.lease = 2s});
  EXPECT_EQ(locks.find("Straße").value().note, "für später");
  auto in_the_way = db().row_locked("Straße");
  EXPECT_FALSE(locks.try_acquire("Straße").has_value());
  EXPECT_TRUE(is_renewed("STRASSE")) << "a lock that is in the way of one does not undo the others";
  in_the_way.reset();
  EXPECT_NO_THROW(held.extend(1h));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  held.release();
  other.release();
  EXPECT_TRUE(is_vacant("Straße"));
}

}  // namespace
}  // namespace rowlock::test
