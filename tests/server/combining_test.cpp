#include "server/server_test.hpp"
#include "support/test_thread.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {
namespace {

/// Many threads of one client, whose requests travel together.
class combining : public on_each_server_by_proxy {
 protected:
  static constexpr std::size_t threads = 50;
  static std::string name(std::size_t number) { return "job/" + std::to_string(number) + "/"; }

  /// Each acquires a name of its own; nullopt where it failed.
  static std::vector<std::optional<held_lock>> acquire_all(client& locks) {
    std::vector<std::optional<held_lock>> out(threads);
    on_threads(threads, [&](std::size_t i) {
      error_of([&] { out[i] = locks.try_acquire_for(name(i), soon, {.lease = long_lease}); });
    });
    return out;
  }
  bool is_free(std::size_t number) { return !db().row(name(number)) || is_vacant(name(number)); }
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
    for (std::size_t i = 0; i < threads; ++i) {
      if (all[i]) {
        EXPECT_TRUE(is_held_by(name(i), *all[i])) << "adopted, or tried again: " << i;
        error_of([&] { all[i]->release(); });
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
    on_threads(threads, [&](std::size_t i) { error_of([&] { all[i].value().release(); }); });
    EXPECT_TRUE(proxy().has_acted());
    for (std::size_t i = 0; i < threads; ++i) EXPECT_TRUE(eventually(soon, [&] { return is_free(i); })) << i;
  }
}

// A row that a transaction has made, and has not committed, holds up whoever would make it.
TEST_P(combining, lets_no_request_suffer_from_a_name_that_another_has_just_made) {
  auto locks = connect();
  auto tx = open_caller(db().url(), "read committed");
  for (int round = 0; round < 3; ++round) {
    const auto name_of = [&](std::size_t number) { return std::to_string(round) + name(number); };
    constexpr auto made = threads / 2;
    tx->begin();
    tx->lock_in(locks, name_of(made));
    on_threads(threads, [&](std::size_t i) { EXPECT_EQ(locks.try_acquire(name_of(i)).has_value(), i != made) << i; });
    on_threads(threads,
               [&](std::size_t i) { EXPECT_EQ(locks.try_acquire_shared(name_of(i)).has_value(), i != made) << i; });
    tx->rollback();
  }
}

}  // namespace
}  // namespace rowlock::test
