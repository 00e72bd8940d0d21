#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include "support/errors.hpp"
#include "support/postgresql_database.hpp"
#include "support/recorder.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {
namespace {

/// PostgreSQL: a transaction whose path leads to the tables of another schema, in which its role may do everything.
TEST(search_path, that_finds_other_tables_does_not_matter) {
  postgresql_database here;
  postgresql_database there;
  auto locks = client::connect(here.url(), {.observer = silent()});
  locks.migrate();
  auto far = client::connect(there.url(), {.observer = silent()});
  far.migrate();
  far.acquire("orders/42").release();
  const auto before = there.row("orders/42").value();
  there.execute("GRANT USAGE ON SCHEMA " + there.name() + " TO " + here.name() +
                "; GRANT ALL ON ALL TABLES IN SCHEMA " + there.name() + " TO " + here.name());
  const auto held = locks.acquire("orders/43");

  const auto tx = open_caller(here.url(), "read committed");
  tx->begin();
  tx->statement("SET LOCAL search_path = " + there.name());
  EXPECT_NO_THROW(tx->lock_in(locks, "orders/42"));
  EXPECT_NO_THROW(tx->confirm(held));
  EXPECT_FALSE(locks.try_acquire("orders/42").has_value());
  EXPECT_EQ(there.row("orders/42")->version, before.version);
  EXPECT_TRUE(far.try_acquire("orders/42").has_value()) << "nothing is locked there";
  tx->commit();
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

}  // namespace
}  // namespace rowlock::test
