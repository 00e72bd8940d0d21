#include <string>

#include "server/server_test.hpp"
#include "server/steps.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

constexpr auto long_lease = 60s;

/// A try that was refused, in a transaction that is still open.
class refused_try : public only_on<postgresql_database> {
 protected:
  template <class Look>
  void while_it_is_open(Look look) {
    steps other{db().url()};
    const strategies::attempt one{.name = "orders/42",
                                  .owner = "other:1:1:1",
                                  .thread = "1",
                                  .acquisition = "other",
                                  .note = {},
                                  .lease = long_lease};
    other.session().exclusively(
        [&] {
          EXPECT_EQ(other.acquire({&one, 1}).at(0).what, strategies::verdict::busy);
          look();
        },
        steps::limits());
  }
};

TEST_F(refused_try, does_not_delay_a_renewal) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  while_it_is_open([&] { EXPECT_TRUE(is_renewed("orders/42")); });
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(refused_try, does_not_delay_a_release) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  while_it_is_open([&] {
    held.release();
    EXPECT_TRUE(is_vacant("orders/42"));
  });
}

TEST_F(refused_try, writes_nothing) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = long_lease});
  while_it_is_open([&] {
    const auto with_a_number =
        "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND usename = '" + db().name() + "'";
    EXPECT_EQ(db().number(with_a_number), 0) << "a transaction that locks or changes a row has a number";
  });
}

}  // namespace
}  // namespace rowlock::test
