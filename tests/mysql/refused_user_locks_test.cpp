#include <stop_token>

#include "server/server_test.hpp"
#include "support/mysql_database.hpp"
#include "support/next_release.hpp"

// Some clusters refuse user-level locks: Percona XtraDB Cluster does by default.

namespace rowlock::test {
namespace {

class without_user_locks : public proxy_test {
 protected:
  without_user_locks() : proxy_test{std::make_unique<mysql_database>()} {
    db().execute(
        "CREATE FUNCTION NO_LOCK_ (name TEXT, seconds DOUBLE) RETURNS INT NO SQL BEGIN SIGNAL SQLSTATE 'HY000' SET "
        "MYSQL_ERRNO = 1105, MESSAGE_TEXT = 'Percona-XtraDB-Cluster prohibits use of GET_LOCK/RELEASE_LOCK with "
        "pxc_strict_mode = ENFORCING'; RETURN 0; END");
    proxy().replace("GET_LOCK", "NO_LOCK_");
  }

  client by_proxy() const { return connect_to(url_, {}); }

  /// Several at once, none of which keeps the others out.
  template <class Connect>
  static void migrate_by_many(Connect connect) {
    std::vector<std::unique_ptr<background<bool>>> all;
    for (int i = 0; i < 8; ++i)
      all.push_back(std::make_unique<background<bool>>(
          [connect](const std::stop_token& /*stop*/) { return connect().migrate(), true; }));
    for (auto& each : all) EXPECT_NO_THROW(each->get());
    const auto found = connect().schema_status();
    EXPECT_TRUE(found.fits);
    for (const auto& each : found.migrations) EXPECT_EQ(each.state, migration_state::applied) << each.file;
  }

  const std::string url_ = db().url_through(proxy().port());
};

TEST_F(without_user_locks, migrates_by_many_clients_at_once) {
  migrate_by_many([this] { return by_proxy(); });
  by_proxy().check();
}

TEST_F(without_user_locks, brings_older_tables_up_to_date_by_many_clients_at_once) {
  for (const std::string prefix : {"a_", "b_", "c_"}) {
    connect_to(url_, {.table_prefix = prefix}).migrate();
    migrate_by_many([&] { return connect_next_release(url_, {.table_prefix = prefix}); });
  }
}

TEST_F(without_user_locks, has_locks_and_waiters) {
  auto first = by_proxy();
  auto second = by_proxy();
  first.migrate();
  expect_whole_life(first, second);
}

}  // namespace
}  // namespace rowlock::test
