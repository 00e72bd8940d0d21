#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

class guest_test : public server_test {
 protected:
  explicit guest_test(std::unique_ptr<server_database> place) : server_test{std::move(place)} {}

  client connect_guest(const std::string& granted) {
    connect().close();
    return connect_to(db().url_of_guest(granted));
  }
};

using privileges = on_each<guest_test>;
ROWLOCK_SUITE_ON_EACH_SERVER(privileges);

TEST_P(privileges, of_four_kinds_are_enough_for_everything_but_migrating) {
  auto locks = connect_guest("SELECT, INSERT, UPDATE, DELETE");
  EXPECT_NO_THROW(locks.check());
  auto held = locks.acquire("orders/42", {.lease = 2s});
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_NO_THROW(held.extend(1min));
  EXPECT_EQ(locks.list().size(), 1U);
  EXPECT_TRUE(locks.find("orders/42").has_value());
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
  db().drop_tables();
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.migrate(); }));
}

struct lack {
  const char* name;
  const char* granted;
  bool is_needed_to_acquire;
};

std::ostream& operator<<(std::ostream& out, const lack& l) { return out << l.name; }

constexpr lack lacks[] = {{"select", "INSERT, UPDATE, DELETE", true},
                          {"insert", "SELECT, UPDATE, DELETE", true},
                          {"update", "SELECT, INSERT, DELETE", true},
                          {"delete", "SELECT, INSERT, UPDATE", false},
                          {"all_but_select", "SELECT", true}};

class privileges_without : public on_each_with<guest_test, lack> {};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(privileges_without, lacks);

TEST_P(privileges_without, are_noticed_by_check_and_a_finding_of_the_diagnosis) {
  auto locks = connect_guest(what().granted);
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); }));
  for (const auto& each : locks.diagnose())
    EXPECT_EQ(each.condition == condition::failed, each.subject == "privileges")
        << each.subject << ": " << each.sentence;
}

TEST_P(privileges_without, are_told_by_acquiring_where_they_are_needed) {
  auto locks = connect_guest(what().granted);
  const auto e = error_of([&] { return locks.try_acquire("orders/42").has_value(); });
  EXPECT_EQ(e.has_value(), what().is_needed_to_acquire);
  if (!e) return;
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(e->is_retryable());
  EXPECT_FALSE(e->outcome_is_unknown());
  EXPECT_FALSE(e->connection_is_unusable());
  EXPECT_TRUE(throws(errc::permission_denied, [&] { static_cast<void>(locks.acquire("orders/42")); }))
      << "a wait does not go on";
}

TEST_P(privileges, to_wait_and_to_record_runs_are_noticed_by_check_where_they_are_missing) {
  auto locks = connect_guest("SELECT, INSERT, UPDATE, DELETE");
  for (const std::string table : {"rowlock_waiter", "rowlock_job_run"})
    for (const char* const each : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
      const auto of_table = std::string{each}.append(" ON ").append(table);
      db().execute("REVOKE " + of_table + " FROM " + db().guest());
      EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); })) << of_table;
      db().execute("GRANT " + of_table + " TO " + db().guest());
      EXPECT_NO_THROW(locks.check()) << of_table;
    }
}

TEST_P(privileges, to_wait_are_told_of_where_they_are_missing) {
  auto locks = connect_guest("SELECT, INSERT, UPDATE, DELETE");
  auto other = connect();
  db().execute("REVOKE INSERT ON rowlock_waiter FROM " + db().guest());
  EXPECT_NO_THROW(locks.acquire("others").release()) << "there is nobody to wait for";
  const auto theirs = other.acquire("orders/42");
  EXPECT_TRUE(throws(errc::permission_denied, [&] { static_cast<void>(locks.acquire("orders/42")); }));
}

TEST_P(privileges, that_were_taken_away_do_not_keep_a_lock) {
  auto locks = connect_guest("SELECT, INSERT, UPDATE, DELETE");
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  db().execute("REVOKE UPDATE ON rowlock_lock FROM " + db().guest());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_NE(held.why_lost(), loss_reason::none);
}

/// Where there is no lock to be had: what connecting says. The role's password is not its name here.
class bad_address : public on_each_server {
 protected:
  static constexpr const char* password = "hunter2-is-secret";

  void SetUp() override { db().set_password(password); }

  /// The place, with another password or port. What is wrong with the password itself: connect_messages.
  std::string url(const std::string& word) {
    auto out = db().address();
    out.password = word;
    return out.url();
  }
  std::string url(std::uint16_t port) {
    auto out = db().address();
    out.host = "127.0.0.1";
    out.password = password;
    out.port = port;
    return out.url();
  }
  static std::optional<error> failure(const std::string& at, client_options options = {}) {
    auto e = error_of([&] { connect_to(at, std::move(options)).close(); });
    EXPECT_FALSE(mentions(e, password)) << e->what();
    EXPECT_FALSE(mentions(e, "wrong-word")) << e->what();
    return e;
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(bad_address);

TEST_P(bad_address, is_none_where_everything_is_right) { EXPECT_FALSE(failure(url(password)).has_value()); }

TEST_P(bad_address, without_a_password) {
  const auto e = failure(url(""));
  ASSERT_TRUE(e.has_value());
  EXPECT_FALSE(e->outcome_is_unknown());
}

TEST_P(bad_address, of_a_host_that_does_not_exist_or_where_no_server_answers) {
  const auto no_host = failure(db().address().scheme + "://u:" + password + "@rowlock.invalid/some");
  EXPECT_TRUE(is_error(no_host, errc::connection_failed));
  auto closing = std::make_unique<tcp_proxy>(db().host(), db().port());
  closing->refuse(true);
  const auto port = closing->port();
  EXPECT_TRUE(is_error(failure(url(port)), errc::connection_failed, {.is_retryable = true}));
  closing.reset();
  const error_traits names_the_port{.is_retryable = true, .says = {std::to_string(port)}};
  EXPECT_TRUE(is_error(failure(url(port)), errc::connection_failed, names_the_port));
}

TEST_P(bad_address, that_never_answers_is_given_up_in_time) {
  tcp_proxy silent{db().host(), db().port()};
  silent.black_hole(true);
  const stopwatch watch;
  const auto e = failure(url(silent.port()), {.connect_timeout = 300ms});
  EXPECT_GE(watch.elapsed(), 300ms);
  EXPECT_LT(watch.elapsed(), slack());
  ASSERT_TRUE(is_error(e, errc::connection_failed, {.is_retryable = true, .outcome_is_unknown = false}));
}

TEST_P(bad_address, that_cannot_be_read) {
  for (const auto* tail : {"@[::1/db", "@host:port/db", "@host/db?nonsense=1", "%zz@host/db"}) {
    const auto e = failure(db().address().scheme + "://user:" + password + tail);
    ASSERT_TRUE(is_error(e, errc::invalid_url)) << tail;
  }
}

}  // namespace
}  // namespace rowlock::test
