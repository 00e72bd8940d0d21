#include <future>

#include "server/server_test.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {
namespace {

/// Many threads of one client, whose requests travel together.
class combining : public on_each_server_by_proxy {
 protected:
  static constexpr int threads = 50;
  static std::string name(int number) { return "job/" + std::to_string(number) + "/"; }

  /// Each acquires a name of its own; nullopt where it failed.
  static std::vector<std::optional<held_lock>> acquire_all(client& locks) {
    std::vector<std::future<std::optional<held_lock>>> calls;
    for (int i = 0; i < threads; ++i)
      calls.push_back(std::async(std::launch::async, [&locks, i] {
        std::optional<held_lock> out;
        error_of([&] { out = locks.try_acquire_for(name(i), soon, {.lease = long_lease}); });
        return out;
      }));
    std::vector<std::optional<held_lock>> out;
    for (auto& each : calls) out.push_back(each.get());
    return out;
  }
  bool is_free(int number) { return !db().row(name(number)) || is_vacant(name(number)); }
};
ROWLOCK_SUITE_ON_EACH_SERVER(combining);

TEST_P(combining, resolves_a_lost_reply_for_each_request_of_the_batch) {
  auto locks = connect_through_proxy();
  locks.acquire("orders/42").release();
  for (const auto lost : {tcp_proxy::action::cut_before, tcp_proxy::action::cut_after,
                          tcp_proxy::action::black_hole_before, tcp_proxy::action::black_hole_after}) {
    on_request(acquiring(name(threads / 2)), lost);
    auto all = acquire_all(locks);
    EXPECT_TRUE(proxy().has_acted());
    proxy().let_go();
    for (int i = 0; i < threads; ++i) {
      auto& held = all.at(static_cast<std::size_t>(i));
      if (held) {
        EXPECT_TRUE(is_held_by(name(i), *held)) << "adopted, or tried again: " << i;
        error_of([&] { held->release(); });
      }
      EXPECT_TRUE(eventually(soon, [&] { return is_free(i); })) << "undone, or released: " << i;
    }
  }
}

TEST_P(combining, resolves_a_lost_reply_to_releases) {
  auto locks = connect_through_proxy();
  for (const auto lost : {tcp_proxy::action::cut_before, tcp_proxy::action::cut_after}) {
    auto all = acquire_all(locks);
    on_request(about(name(threads / 2)), lost);
    std::vector<std::future<void>> calls;
    for (auto& each : all) {
      ASSERT_TRUE(each.has_value());
      calls.push_back(std::async(std::launch::async, [&each] { error_of([&] { each->release(); }); }));
    }
    for (auto& each : calls) each.get();
    EXPECT_TRUE(proxy().has_acted());
    for (int i = 0; i < threads; ++i) EXPECT_TRUE(eventually(soon, [&] { return is_free(i); })) << i;
  }
}

// A row that a transaction has made, and has not committed, holds up whoever would make it.
TEST_P(combining, lets_no_request_suffer_from_a_name_that_another_has_just_made) {
  auto locks = connect();
  auto tx = open_caller(db().url(), "read committed");
  for (int round = 0; round < 3; ++round) {
    const auto name_of = [&](int number) { return std::to_string(round) + name(number); };
    const int made = threads / 2;
    tx->begin();
    tx->lock_in(locks, name_of(made));
    std::vector<std::future<bool>> tries;
    for (int i = 0; i < threads; ++i)
      tries.push_back(std::async(std::launch::async, [&, i] { return locks.try_acquire(name_of(i)).has_value(); }));
    for (int i = 0; i < threads; ++i) EXPECT_EQ(tries.at(static_cast<std::size_t>(i)).get(), i != made) << i;
    tx->rollback();
  }
}

}  // namespace
}  // namespace rowlock::test
