#include <array>
#include <random>

#include "server/ledger.hpp"
#include "server/server_test.hpp"
#include "support/seed.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

constexpr std::size_t most_names = 16;
constexpr duration lease = 600ms;

struct crowd_size {
  std::size_t names;
  int clients;
  int threads_a_client;
  int disturbances = 50;
};

/// Clients contend for a few names, while requests and answers get lost, connections are cut, and sessions are ended.
class chaos : public on_each_server_by_proxy {
 protected:
  static std::string name(std::size_t number) { return "chaos/" + std::to_string(number); }

  /// Takes locks and lets go of them; what fails is tried again.
  void contend(const std::stop_token& stop, client& locks, std::size_t names, unsigned seed) {
    std::mt19937 random{seed};
    while (!stop.stop_requested()) {
      const std::size_t number = random() % names;
      error_of([&] {
        if (auto held = locks.try_acquire_for(name(number), 200ms, {.lease = lease})) hold(number, *held, random);
      });
    }
  }
  void hold(std::size_t number, held_lock& held, std::mt19937& random) {
    const auto token = held.token();
    const auto enter = [&] {
      const auto now = base::now();  // first: the thread may be late between the two
      book_.enter(number, token, base::later(now, held.expires_in().value()));
    };
    enter();
    switch (random() % 4) {
      case 0:
        eventually(2 * lease, [&] {  // it is renewed, or lost
          enter();
          return held.lost().stop_requested();
        });
        break;
      case 1:
        error_of([&] { held.extend(lease); });
        break;
      default:
        break;
    }
    book_.leave(number, token);
    held.release();
  }

  void disturb(std::size_t names, std::mt19937& random) {
    constexpr std::array actions = {tcp_proxy::action::cut_before, tcp_proxy::action::cut_after,
                                    tcp_proxy::action::black_hole_before, tcp_proxy::action::black_hole_after,
                                    tcp_proxy::action::hold};
    const auto any = random() % 12;
    if (any == 0) {
      proxy().cut();
    } else if (any == 1) {
      db().terminate_sessions();
    } else {
      const auto what = name(random() % names);
      on_request(random() % 2 == 0 ? acquiring(what) : about(what), actions.at(random() % actions.size()));
      eventually(50ms, [&] { return proxy().has_acted(); });
      ++disturbances_;
    }
    if (random() % 4 == 0) proxy().let_go();
  }

  void run(const crowd_size& size) {
    std::vector<client> all;
    for (int i = 0; i < size.clients; ++i)
      all.push_back(connect_through_proxy({.transaction_pooling = i == 0 && size.clients > 1 && is_on("postgresql")}));
    std::vector<test_thread> threads;
    for (int i = 0; i < size.clients * size.threads_a_client; ++i)
      threads.emplace_back([&, i](const std::stop_token& stop) {
        contend(stop, all.at(static_cast<std::size_t>(i % size.clients)), size.names,
                seed() + 1 + static_cast<unsigned>(i));
      });
    std::mt19937 random{seed()};
    const auto has_happened = [&] { return book_.grants() > 50 && disturbances_ > size.disturbances; };
    const auto least = is_full_tier() ? 15s : 3s;
    for (const stopwatch watch; watch.elapsed() < least || (!has_happened() && watch.elapsed() < 4 * patience);) {
      disturb(size.names, random);
      // A busy machine is disturbed sooner than it grants.
      eventually(1s, [&] { return book_.grants() >= disturbances_; });
    }
    for (auto& each : threads) each.request_stop();
    threads.clear();
    proxy().let_go();
    EXPECT_EQ(book_.double_grants(), 0);
    EXPECT_EQ(book_.tokens_out_of_order(), 0);
    EXPECT_GT(book_.grants(), 50);
    EXPECT_GT(disturbances_, size.disturbances);
    auto other = connect();
    for (std::size_t i = 0; i < size.names; ++i) EXPECT_TRUE(other.try_acquire_for(name(i), 10s).has_value()) << i;
  }

  ledger book_{most_names};
  int disturbances_ = 0;
};
ROWLOCK_SUITE_ON_EACH_SERVER(chaos);

TEST_P(chaos, gives_no_name_to_two_and_leaves_no_lock_behind) {
  run({.names = 4, .clients = 3, .threads_a_client = 4});
}

// Their requests travel together.
TEST_P(chaos, gives_no_name_to_two_of_many_threads_of_one_client) {
  run({.names = most_names, .clients = 1, .threads_a_client = 64, .disturbances = many(50, 10)});
}

}  // namespace
}  // namespace rowlock::test
