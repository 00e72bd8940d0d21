#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using testing::IsEmpty;

using command_migrate = command;

TEST_F(command_migrate, by_many_at_once_is_done_once) {
  sqlite_database fresh;
  std::vector<std::unique_ptr<program>> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(std::make_unique<program>(launch{.words = {path(), "--database", fresh.url(), "migrate"}}));
  for (auto& each : all) {
    EXPECT_EQ(each->wait(), exited(0)) << each->err();
    EXPECT_THAT(each->out(), IsEmpty());
  }
  EXPECT_EQ(fresh.newest_migration(), database_.newest_migration());
}

TEST_F(command_migrate, under_a_holder_leaves_him_alone) {
  const auto held = locks_.acquire("job");
  EXPECT_EQ(finish(rowlock({"migrate"})).end, exited(0));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(is_free("job"));
}

}  // namespace
}  // namespace rowlock::test
