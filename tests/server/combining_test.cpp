#include <future>
#include <optional>
#include <string>
#include <vector>

#include "server/server_test.hpp"

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
        error_of([&] {
          out = locks.try_acquire_for(name(i), soon, {.lease = long_lease});
          return true;
        });
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
        error_of([&] {
          held->release();
          return true;
        });
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
      calls.push_back(std::async(std::launch::async, [&each] {
        error_of([&] {
          each->release();
          return true;
        });
      }));
    }
    for (auto& each : calls) each.get();
    EXPECT_TRUE(proxy().has_acted());
    for (int i = 0; i < threads; ++i) EXPECT_TRUE(eventually(soon, [&] { return is_free(i); })) << i;
  }
}

}  // namespace
}  // namespace rowlock::test
