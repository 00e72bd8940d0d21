#include "core/diagnosis.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace rowlock::core {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(connection_finding, names_the_server_and_whatever_is_known_besides) {
  EXPECT_EQ(connection_of({{"server", "SQLite 3.40.1"}, {"database", "/tmp/locks.db"}}, 40us).sentence,
            "SQLite 3.40.1, in /tmp/locks.db; answers in 0.0 ms");
  const settings postgresql{{"server", "PostgreSQL 15.8"}, {"user", "app"}, {"database", "shop"}};
  const auto by = [&](settings more) {
    more.insert(postgresql.begin(), postgresql.end());
    return connection_of(more, 1249us).sentence;
  };
  EXPECT_EQ(by({{"ssl_version", "TLSv1.3"}, {"ssl_cipher", "TLS_AES_256_GCM_SHA384"}}),
            "PostgreSQL 15.8, as app, in shop, encrypted by TLS 1.3 (TLS_AES_256_GCM_SHA384); answers in 1.2 ms");
  EXPECT_EQ(by({{"ssl_version", ""}, {"gss", "false"}}),
            "PostgreSQL 15.8, as app, in shop, not encrypted; answers in 1.2 ms");
  EXPECT_EQ(by({{"ssl_version", ""}, {"gss", "true"}}),
            "PostgreSQL 15.8, as app, in shop, encrypted by GSSAPI; answers in 1.2 ms");
  EXPECT_EQ(by({}), "PostgreSQL 15.8, as app, in shop; answers in 1.2 ms");
  EXPECT_THAT(connection_of({{"version", "10.11.6-MariaDB"}}, 1ms).sentence, HasSubstr("MariaDB 10.11.6-MariaDB;"));
  EXPECT_EQ(connection_of({{"version", "8.0.36"},
                           {"user", "app@%"},
                           {"database", "shop"},
                           {"ssl_version", "TLSv1.2"},
                           {"ssl_cipher", "ECDHE-RSA-AES128-GCM-SHA256"}},
                          1ms)
                .sentence,
            "MySQL 8.0.36, as app@%, in shop, encrypted by TLS 1.2 (ECDHE-RSA-AES128-GCM-SHA256); answers in 1.0 ms");
  EXPECT_THAT(connection_of({{"version", "8.0.36"}}, 1ms).sentence, HasSubstr("MySQL 8.0.36;"));
}

TEST(clock_finding, minds_only_what_is_far_apart) {
  EXPECT_EQ(clock_of(99ms).sentence, "the same as this host's");
  EXPECT_EQ(clock_of(-99ms).sentence, "the same as this host's");
  EXPECT_EQ(clock_of(250ms).sentence, "250.0 ms ahead of this host's");
  EXPECT_EQ(clock_of(-999ms).sentence, "999.0 ms behind this host's");
  for (const auto close : {0ms, 99ms, -999ms, 999ms}) EXPECT_EQ(clock_of(close).condition, condition::ok);
  for (const auto far : {1s, -1s, 3600s}) EXPECT_EQ(clock_of(far).condition, condition::advice);
  EXPECT_THAT(clock_of(-90s).sentence, HasSubstr("90.0 s behind this host's"));
  EXPECT_THAT(clock_of(1250ms).sentence, HasSubstr("1.3 s ahead of this host's"));
}

TEST(log_finding, is_content_with_what_reaches_the_disk) {
  for (const settings& good :
       {settings{{"fsync", "on"}, {"full_page_writes", "on"}},
        settings{{"innodb_flush_log_at_trx_commit", "1"}, {"log_bin", "OFF"}, {"sync_binlog", "0"}},
        settings{{"innodb_flush_log_at_trx_commit", "1"}, {"log_bin", "ON"}, {"sync_binlog", "1"}},
        settings{{"journal_mode", "wal"}}, settings{{"journal_mode", "memory"}}, settings{}})
    EXPECT_EQ(log_of(good).condition, condition::ok) << log_of(good).sentence;
}

TEST(log_finding, says_which_setting_is_not_so) {
  const auto advice_on = [](const settings& found) {
    const auto out = log_of(found);
    EXPECT_EQ(out.condition, condition::advice);
    return out.sentence;
  };
  EXPECT_THAT(advice_on({{"fsync", "off"}, {"full_page_writes", "on"}}), HasSubstr("fsync is off: "));
  EXPECT_THAT(advice_on({{"full_page_writes", "off"}}), HasSubstr("full_page_writes is off: "));
  EXPECT_THAT(advice_on({{"innodb_flush_log_at_trx_commit", "2"}}), HasSubstr("innodb_flush_log_at_trx_commit is 2: "));
  EXPECT_THAT(advice_on({{"journal_mode", "delete"}}), HasSubstr("journal_mode is delete: "));
  const auto both = advice_on({{"innodb_flush_log_at_trx_commit", "0"}, {"log_bin", "ON"}, {"sync_binlog", "0"}});
  EXPECT_THAT(both, HasSubstr("innodb_flush_log_at_trx_commit is 0: "));
  EXPECT_THAT(both, HasSubstr("; with a binary log"));
}

TEST(cluster_finding, knows_who_else_may_have_the_data) {
  EXPECT_EQ(cluster_of({}).condition, condition::ok);
  EXPECT_EQ(cluster_of({{"wsrep_on", "OFF"}, {"group_replication_group_name", ""}, {"standbys", "0"}}).sentence,
            "none seen");
  EXPECT_THAT(cluster_of({{"wsrep_on", "ON"}}).sentence, HasSubstr("Galera"));
  EXPECT_EQ(cluster_of({{"wsrep_on", "ON"}}).condition, condition::advice);
  EXPECT_THAT(cluster_of({{"group_replication_group_name", "x"}}).sentence, HasSubstr("group replication"));
  const auto lazy = cluster_of({{"standbys", "2"}, {"synchronous_standby_names", ""}});
  EXPECT_EQ(lazy.condition, condition::advice);
  EXPECT_THAT(lazy.sentence, HasSubstr("2 standbys, none of them synchronous"));
  const auto eager = cluster_of({{"standbys", "2"}, {"synchronous_standby_names", "ANY 1 (a, b)"}});
  EXPECT_EQ(eager.condition, condition::ok);
  EXPECT_THAT(eager.sentence, Not(HasSubstr("none")));
}

TEST(cluster_finding, recommends_a_guard_where_commits_may_be_lost) {
  const settings standby{{"standbys", "1"}, {"synchronous_standby_names", ""}};
  const settings binary_log{{"log_bin", "ON"}};
  EXPECT_THAT(cluster_of(standby).sentence, HasSubstr("rowlock guard"));
  EXPECT_THAT(cluster_of(binary_log).sentence, HasSubstr("rowlock guard"));
  EXPECT_EQ(cluster_of(binary_log).condition, condition::ok) << "its replicas are not visible";
  const guard_status on{.quarantine = 60s};
  EXPECT_EQ(cluster_of(standby, on).condition, condition::ok);
  EXPECT_THAT(cluster_of(standby, on).sentence, HasSubstr("; a guard is on, with a quarantine of 60 s"));
  EXPECT_EQ(cluster_of(binary_log, on).sentence, "none seen; a guard is on, with a quarantine of 60 s");
}

TEST(cluster_finding, says_that_a_quarantine_is_on) {
  const auto found = cluster_of({{"standbys", "1"}}, {.quarantine = 60s, .left = 41'200ms});
  EXPECT_EQ(found.condition, condition::advice);
  EXPECT_THAT(found.sentence, HasSubstr("nothing is granted for 42 s"));
}

}  // namespace
}  // namespace rowlock::core
