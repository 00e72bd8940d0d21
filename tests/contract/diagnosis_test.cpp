#include <gmock/gmock.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/background.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/server_database.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

class diagnosis : public on_each_database {
 protected:
  client connect(client_options options = {}) const { return connect_patiently(db().url(), std::move(options)); }
  static finding about(std::string_view subject, const std::vector<finding>& in) {
    for (const auto& each : in)
      if (each.subject == subject) return each;
    ADD_FAILURE() << "nothing about " << subject;
    return {};
  }
  static std::vector<std::string> subjects(const std::vector<finding>& of) {
    std::vector<std::string> out;
    for (const auto& each : of) out.push_back(each.subject);
    return out;
  }

  client locks_ = connect();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_DATABASE(diagnosis);

TEST_P(diagnosis, of_what_is_in_order_says_so) {
  locks_.migrate();
  const auto found = locks_.diagnose();
  EXPECT_THAT(subjects(found), ElementsAre("connection", "schema", "privileges", "clock", "log settings", "cluster"));
  for (const auto& each : found) {
    EXPECT_NE(each.sentence, "");
    // A server for tests may be careless. An answer that comes late says little of the clock.
    if (each.subject == "log settings" || each.subject == "clock") continue;
    EXPECT_EQ(each.condition, condition::ok) << each.subject << ": " << each.sentence;
  }
  EXPECT_NE(about("log settings", found).condition, condition::failed);
  EXPECT_TRUE(eventually([&] { return about("clock", locks_.diagnose()).sentence == "the same as this host's"; }));
  EXPECT_THAT(about("connection", found).sentence, HasSubstr("; answers in "));
}

class diagnosis_of_a_server : public diagnosis {
 protected:
  server_database& server() const { return dynamic_cast<server_database&>(db()); }
};
INSTANTIATE_TEST_SUITE_P(on, diagnosis_of_a_server, testing::ValuesIn(server_databases()), database_name);

TEST_P(diagnosis_of_a_server, says_as_whom_and_where_it_is_connected_and_whether_encrypted) {
  EXPECT_THAT(about("connection", locks_.diagnose()).sentence,
              MatchesRegex("(PostgreSQL|MariaDB|MySQL) [^,]+, as " + server().address().user + "(@[^,]+)?, in " +
                           server().address().database +
                           ", (not encrypted|encrypted by TLS [0-9.]+ \\([-A-Z0-9_]+\\)); answers in [0-9.]+ ms"))
      << "and no more, such as a password";
}

TEST_P(diagnosis_of_a_server, of_a_role_that_may_only_read_says_as_whom_all_the_same) {
  connect().migrate();
  auto locks = connect_patiently(server().url_of_guest("SELECT"));
  EXPECT_THAT(about("connection", locks.diagnose()).sentence, HasSubstr(", as " + server().guest()));
}

TEST_P(diagnosis, of_tables_that_went_away_does_not_ask_what_they_could_tell) {
  locks_.migrate();
  EXPECT_EQ(about("schema", locks_.diagnose()).condition, condition::ok);
  db().drop_tables();
  const auto found = locks_.diagnose();
  EXPECT_EQ(about("connection", found).condition, condition::ok);
  EXPECT_EQ(about("schema", found).condition, condition::failed);
  EXPECT_THAT(about("schema", found).sentence, HasSubstr("migrate"));
  EXPECT_EQ(about("privileges", found).condition, condition::unknown);
  EXPECT_EQ(about("clock", found).condition, condition::unknown);
  EXPECT_NE(about("cluster", found).condition, condition::unknown);
}

class database_count : public diagnosis {};
ROWLOCK_SUITE_ON_EACH_DATABASE(database_count);

TEST_P(database_count, of_nothing_is_nothing) {
  EXPECT_TRUE(throws(errc::schema_missing, [&] { (void)locks_.database_stats(); }));
  locks_.migrate();
  const auto found = locks_.database_stats();
  EXPECT_EQ(found.names, 0U);
  EXPECT_EQ(found.held, 0U);
  EXPECT_EQ(found.held_by_transaction, 0U);
  EXPECT_EQ(found.waiters, 0U);
  EXPECT_FALSE(found.longest_hold.has_value());
  EXPECT_FALSE(found.longest_wait.has_value());
}

TEST_P(database_count, is_of_all_clients) {
  locks_.migrate();
  locks_.acquire("released").release();
  const auto first = locks_.acquire("a");
  const auto second = other_.acquire("b");
  const auto third = other_.acquire("c", {.strategy = strategy::for_update});
  {
    background waiting{[&](const std::stop_token& stop) { return locks_.try_acquire_for("b", 1min, {}, stop); }};
    ASSERT_TRUE(eventually([&] { return locks_.database_stats().waiters == 1; }));
    const auto age = locks_.waiters("b").at(0).age;
    const auto held_for = locks_.find("a").value().held_for.value();
    const auto found = other_.database_stats();
    EXPECT_EQ(found.names, 4U);
    EXPECT_EQ(found.held, 3U);
    EXPECT_EQ(found.held_by_transaction, 1U);
    EXPECT_GE(found.longest_hold.value(), held_for);
    EXPECT_GE(found.longest_wait.value(), age);
    EXPECT_LT(found.longest_hold.value(), 1min);
    EXPECT_LT(found.longest_wait.value(), 1min);
  }
  ASSERT_TRUE(eventually([&] { return locks_.database_stats().waiters == 0; }));
  EXPECT_FALSE(locks_.database_stats().longest_wait.has_value());
}

TEST_P(database_count, leaves_out_those_who_have_died) {
  locks_.migrate();
  db().enqueue("a");
  EXPECT_EQ(locks_.database_stats().waiters, 1U);
  db().kill_waiters(1s);
  EXPECT_EQ(locks_.database_stats().waiters, 0U);
}

}  // namespace
}  // namespace rowlock::test
