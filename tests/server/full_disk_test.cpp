#include "server/server_test.hpp"

// The server cannot write anything that needs more room.

namespace rowlock::test {
namespace {

class full_disk : public on_fake_machine {};
ROWLOCK_SUITE_ON_EACH_SERVER(full_disk);

TEST_P(full_disk, grants_nothing_that_is_not_written_and_is_used_again_when_there_is_room) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("before", {.lease = long_lease});
  machine.fill_disk();
  EXPECT_ANY_THROW(db().execute("CREATE TABLE filler AS SELECT 1 AS a"));
  // As many as need more room than there was. The server may need to be started again after that.
  const auto failed = [&](int i) {
    return error_of([&] { return locks.try_acquire("more/" + std::string(200, 'x') + std::to_string(i)); }).has_value();
  };
  bool has_failed = false;
  for (int i = 0; i < 2000 && !has_failed; ++i) has_failed = failed(i);
  EXPECT_TRUE(has_failed);
  machine.make_room();
  server->start_if_ended();
  EXPECT_TRUE(eventually([&] { return succeeds([&] { return other.try_acquire("after"); }); }));
  EXPECT_FALSE(other.try_acquire("before").has_value()) << "what was written is there";
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
}

}  // namespace
}  // namespace rowlock::test
