#include <algorithm>

#include "server/server_test.hpp"
#include "server/steps.hpp"
#include "support/odd_names.hpp"

namespace rowlock::test {
namespace {

class odd_names_test : public on_each_server {
 protected:
  const std::vector<std::string> names_ = odd_names();
};
ROWLOCK_SUITE_ON_EACH_SERVER(odd_names_test);

TEST_P(odd_names_test, are_different_queues) {
  auto locks = connect();
  for (const auto& name : names_) db().add_waiters(name, 2);
  const auto all = locks.list_waiters();
  EXPECT_EQ(all.size(), 2 * names_.size());
  for (const auto& name : names_) {
    const auto is_of = [&](const waiter_info& each) { return each.name == lock_name{name}; };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), is_of), 2) << name;
    EXPECT_EQ(locks.waiters(name).size(), 2U) << name;
  }
  EXPECT_EQ(locks.list_waiters("a").size(), 14U) << "a prefix is one of bytes";
  EXPECT_EQ(locks.list_waiters("%").size(), 4U);
}

TEST_P(odd_names_test, are_different_locks_in_a_batch) {
  connect().close();
  steps all{db().url()};
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < 2 * names_.size(); ++i) ids.push_back("id/" + std::to_string(i));
  std::vector<strategies::acquire_args> attempts;
  std::vector<store::lease_ref> held;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto& name = names_[i];
    attempts.push_back(
        {.name = name, .owner = name, .thread = name, .acquisition = ids[i], .note = name, .lease = 1min});
    held.push_back({.name = name, .acquisition = ids[i], .lease = 1min});
  }
  for (const auto& answer : all.acquire(attempts)) EXPECT_EQ(answer.what, strategies::verdict::granted);
  for (const auto& each : attempts) {
    EXPECT_EQ(db().row(each.name).value().owner, each.owner);
    EXPECT_EQ(db().row(each.name).value().note, each.note);
  }
  for (std::size_t i = 0; i < names_.size(); ++i) attempts[i].acquisition = ids[names_.size() + i];
  for (const auto& answer : all.acquire(attempts)) EXPECT_EQ(answer.what, strategies::verdict::busy);
  for (const auto& answer : all.renew(held)) EXPECT_EQ(answer.what, store::standing::kept);
  for (const auto outcome : all.release(held)) EXPECT_EQ(outcome, store::release_outcome::released);
  for (auto& each : attempts) each.share = core::one_reader;
  const auto until = steps::limits();
  for (const auto& answer : strategies::share_skipping(all.on(until), attempts))
    EXPECT_EQ(answer.what, strategies::verdict::granted);
  for (const auto& each : names_) EXPECT_EQ(store::sharers(all.on(until), each).size(), 1U) << each;
}

}  // namespace
}  // namespace rowlock::test
