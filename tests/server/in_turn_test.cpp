#include "server/server_test.hpp"
#include "server/steps.hpp"

namespace rowlock::test {
namespace {

class attempt_in_turn : public on_each_server {
 protected:
  strategies::verdict try_by_what_was_seen(fencing_token version) {
    auto one = attempt_at("job", "a/1", long_lease);
    one.seen = version;
    return steps_.acquire({&one, 1}).at(0).what;
  }
  store::queue_position look() {
    const store::ticket_ref newcomer{.name = "job", .attempt = {}, .number = core::ticket_number::last};
    return steps_.look_at_queues({&newcomer, 1}).at(0);
  }

  client locks_ = connect();
  steps steps_{db().url()};
};
ROWLOCK_SUITE_ON_EACH_SERVER(attempt_in_turn);

// Who had the lock may have seen tickets that the look had not.
TEST_P(attempt_in_turn, is_granted_only_if_nobody_had_the_lock_since_the_look) {
  locks_.acquire("job").release();
  const auto before = look();
  locks_.acquire("job").release();
  const auto after = look();
  ASSERT_TRUE(before.looks_free && after.looks_free);
  EXPECT_EQ(try_by_what_was_seen(before.version), strategies::verdict::inconclusive);
  EXPECT_EQ(try_by_what_was_seen(after.version), strategies::verdict::granted);
}

}  // namespace
}  // namespace rowlock::test
