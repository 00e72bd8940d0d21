#include "server/server_test.hpp"
#include "server/steps.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

/// What InnoDB says to a write that it has undone.
struct refusal {
  const char* name;
  const char* signal;
};

std::ostream& operator<<(std::ostream& out, const refusal& r) { return out << r.name; }

constexpr refusal refusals[] = {{"deadlock", "SQLSTATE '40001' SET MYSQL_ERRNO = 1213"},
                                {"lock_wait", "SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205"},
                                {"record_changed", "SQLSTATE 'HY000' SET MYSQL_ERRNO = 1020"}};

class failing_writes : public only_on<mysql_database>, public testing::WithParamInterface<refusal> {
 protected:
  void SetUp() override {
    db().execute("CREATE TABLE fault (times INT) ENGINE = MyISAM");  // what it counts is not rolled back
    db().execute("INSERT INTO fault VALUES (0)");
    for (const std::string verb : {"INSERT", "UPDATE"}) {
      std::string sql{"CREATE TRIGGER fail_"};
      sql.append(verb).append(" BEFORE ").append(verb);
      sql.append(
          " ON rowlock_lock FOR EACH ROW BEGIN UPDATE fault SET times = times - 1 WHERE times > 0; "
          "IF ROW_COUNT() > 0 THEN SIGNAL ");
      db().execute(sql.append(GetParam().signal).append("; END IF; END"));
    }
  }
  /// The next so many.
  void fail(int times) { db().execute("UPDATE fault SET times = " + std::to_string(times)); }
  client locks_ = connect();

  bool have_failed() { return db().number("SELECT times FROM fault") == 0; }
};
INSTANTIATE_TEST_SUITE_P(with, failing_writes, testing::ValuesIn(refusals), [](const auto& r) { return r.param.name; });

TEST_P(failing_writes, once_are_not_noticed_by_a_try) {
  for (int i = 0; i < 2; ++i) {  // a new name, and a vacant one
    fail(1);
    const auto held = locks_.try_acquire("orders/42");
    EXPECT_TRUE(have_failed());
    EXPECT_TRUE(held && is_held_by("orders/42", *held));
  }
}

TEST_P(failing_writes, many_times_are_ridden_out_by_a_wait) {
  fail(50);
  const auto held = locks_.try_acquire_for("orders/42", soon);
  EXPECT_TRUE(have_failed());
  EXPECT_TRUE(held && is_held_by("orders/42", *held));
}

TEST_P(failing_writes, do_not_lose_a_lock_that_is_renewed) {
  const auto held = locks_.acquire("orders/42", {.lease = 3s});
  fail(1);
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_TRUE(have_failed());
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_P(failing_writes, are_not_noticed_by_an_extend) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  fail(1);
  EXPECT_NO_THROW(held.extend(2 * long_lease));
  EXPECT_TRUE(have_failed());
  EXPECT_GT(expiry("orders/42"), db().now() + std::chrono::microseconds{long_lease}.count());
}

TEST_P(failing_writes, leave_no_lock_behind_that_is_released) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  fail(1);
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
  EXPECT_TRUE(have_failed());
}

TEST_P(failing_writes, in_a_batch_may_be_repeated_or_are) {
  std::vector<strategies::acquire_args> attempts;
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) names.push_back("orders/" + std::to_string(i));
  for (const auto& name : names) attempts.push_back(attempt_at(name, name, long_lease));
  steps all{db().url()};
  fail(1);
  std::vector<strategies::answer> answers;
  const auto e = error_of([&] { answers = all.acquire(attempts); });
  EXPECT_TRUE(have_failed());
  if (e) {
    EXPECT_TRUE(e->is_retryable()) << e->what();
    EXPECT_FALSE(e->outcome_is_unknown()) << e->what();
    EXPECT_FALSE(e->connection_is_unusable()) << e->what();
    answers = all.acquire(attempts);
  }
  for (const auto& answer : answers) EXPECT_EQ(answer.what, strategies::verdict::granted);
}

}  // namespace
}  // namespace rowlock::test
