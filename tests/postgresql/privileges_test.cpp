#include <optional>
#include <ostream>
#include <string>

#include "postgresql/server_test.hpp"

namespace rowlock::test {
namespace {

class privileges : public server_test {
 protected:
  client connect_guest(const std::string& granted) {
    connect().close();
    return connect_to(db().url_of_guest(granted));
  }
};

TEST_F(privileges, of_four_kinds_are_enough_for_everything_but_migrating) {
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

class privileges_without : public privileges, public testing::WithParamInterface<lack> {};
INSTANTIATE_TEST_SUITE_P(lacking, privileges_without,
                         testing::Values(lack{"select", "INSERT, UPDATE, DELETE", true},
                                         lack{"insert", "SELECT, UPDATE, DELETE", true},
                                         lack{"update", "SELECT, INSERT, DELETE", true},
                                         lack{"delete", "SELECT, INSERT, UPDATE", false}),
                         [](const auto& l) { return l.param.name; });

TEST_P(privileges_without, are_noticed_by_check) {
  auto locks = connect_guest(GetParam().granted);
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); }));
}

TEST_P(privileges_without, are_told_by_acquiring_where_they_are_needed) {
  auto locks = connect_guest(GetParam().granted);
  const auto e = error_of([&] { return locks.try_acquire("orders/42").has_value(); });
  EXPECT_EQ(e.has_value(), GetParam().is_needed_to_acquire);
  if (!e) return;
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(e->outcome_is_unknown());
  EXPECT_FALSE(e->connection_is_unusable());
  EXPECT_TRUE(throws(errc::permission_denied, [&] { static_cast<void>(locks.acquire("orders/42")); }))
      << "a wait does not go on";
}

TEST_F(privileges, that_were_taken_away_do_not_keep_a_lock) {
  auto locks = connect_guest("SELECT, INSERT, UPDATE, DELETE");
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  db().execute("REVOKE UPDATE ON rowlock_lock FROM " + db().name() + "_guest");
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_NE(held.why_lost(), loss_reason::none);
}

/// Where there is no lock to be had: what connecting says. The role's password is not its name here.
class bad_address : public server_test {
 protected:
  static constexpr const char* password = "hunter2-is-secret";

  void SetUp() override { db().execute("ALTER ROLE " + db().name() + " PASSWORD '" + password + "'"); }

  std::string url(const std::string& word, std::uint16_t port, const std::string& database) {
    return "postgresql://" + db().name() + ":" + word + "@" + db().host() + ":" + std::to_string(port) + "/" + database;
  }
  static std::optional<error> failure(const std::string& at, client_options options = {}) {
    auto e = error_of([&] {
      connect_to(at, std::move(options)).close();
      return true;
    });
    EXPECT_FALSE(mentions(e, password)) << e->what();
    EXPECT_FALSE(mentions(e, "wrong-word")) << e->what();
    return e;
  }
};

TEST_F(bad_address, is_none_where_everything_is_right) {
  EXPECT_FALSE(failure(url(password, db().port(), "postgres")).has_value());
}

TEST_F(bad_address, with_a_wrong_password) {
  const auto e = failure(url("wrong-word", db().port(), "postgres"));
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::permission_denied);
  EXPECT_FALSE(e->is_retryable());
  EXPECT_EQ(e->sqlstate(), "28P01");
  EXPECT_TRUE(mentions(e, db().name())) << e->what();
}

TEST_F(bad_address, without_a_password) {
  const auto e =
      failure("postgresql://" + db().name() + "@" + db().host() + ":" + std::to_string(db().port()) + "/postgres");
  ASSERT_TRUE(e.has_value());
  EXPECT_FALSE(e->outcome_is_unknown());
}

TEST_F(bad_address, of_no_such_database) {
  const auto e = failure(url(password, db().port(), "no_such_database"));
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed);
  EXPECT_EQ(e->sqlstate(), "3D000");
  EXPECT_TRUE(mentions(e, "no_such_database")) << e->what();
}

TEST_F(bad_address, where_nobody_listens) {
  std::uint16_t unused = 0;
  {
    const tcp_proxy gone{db().host(), db().port()};
    unused = gone.port();
  }
  const auto e = failure(url(password, unused, "postgres"));
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed);
  EXPECT_TRUE(e->is_retryable());
  EXPECT_TRUE(mentions(e, std::to_string(unused))) << e->what();
}

TEST_F(bad_address, of_a_host_that_does_not_exist) {
  const auto e = failure("postgresql://u:" + std::string{password} + "@rowlock.invalid/postgres");
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed);
}

TEST_F(bad_address, that_never_answers_is_given_up_in_time) {
  tcp_proxy silent{db().host(), db().port()};
  silent.black_hole(true);
  const stopwatch watch;
  const auto e = failure(url(password, silent.port(), "postgres"), {.connect_timeout = 300ms});
  EXPECT_GE(watch.elapsed(), 300ms);
  EXPECT_LT(watch.elapsed(), 2s);
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed);
  EXPECT_TRUE(e->is_retryable());
  EXPECT_FALSE(e->outcome_is_unknown()) << "nothing was asked for yet";
}

TEST_F(bad_address, that_closes_every_connection) {
  tcp_proxy closing{db().host(), db().port()};
  closing.refuse(true);
  const auto e = failure(url(password, closing.port(), "postgres"));
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed);
  EXPECT_TRUE(e->is_retryable());
}

TEST_F(bad_address, of_a_schema_where_nothing_may_be_made) {
  db().execute("REVOKE CREATE ON SCHEMA " + db().name() + " FROM " + db().name() + "; ALTER SCHEMA " + db().name() +
               " OWNER TO CURRENT_USER; GRANT USAGE ON SCHEMA " + db().name() + " TO " + db().name());
  auto locks = connect_to(url(password, db().port(), "postgres"));
  const auto e = error_of([&] {
    locks.migrate();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(db().has_table("rowlock_lock"));
}

TEST_F(bad_address, that_cannot_be_read) {
  for (const auto* tail : {"@[::1/db", "@host:port/db", "@host/db?nonsense=1", "%zz@host/db"}) {
    const auto e = failure("postgresql://user:" + std::string{password} + tail);
    ASSERT_TRUE(e.has_value()) << tail;
    EXPECT_EQ(e->code(), errc::invalid_url) << e->what();
  }
}

}  // namespace
}  // namespace rowlock::test
