#include <string>
#include <vector>

#include "postgresql/server_test.hpp"
#include "postgresql/steps.hpp"

namespace rowlock::test {
namespace {

constexpr auto long_lease = 60s;

class round_trips : public proxy_test {
 protected:
  template <class Call>
  int of(Call call) {
    const auto before = proxy().round_trips();
    call();
    return proxy().round_trips() - before;
  }
  /// Everything has been prepared, and two sessions are there.
  client connect_warm(client_options options = {}) {
    auto locks = connect_through_proxy(std::move(options));
    for (int i = 0; i < 2; ++i) {
      auto held = locks.acquire("warm");
      held.extend(long_lease);
      EXPECT_FALSE(locks.try_acquire("warm").has_value());
    }
    return locks;
  }
};

TEST_F(round_trips, of_acquiring_a_new_name_are_one) {
  auto locks = connect_warm();
  std::optional<held_lock> held;
  EXPECT_EQ(of([&] { held = locks.try_acquire("orders/42"); }), 1);
}

TEST_F(round_trips, of_acquiring_a_vacant_name_are_one) {
  auto locks = connect_warm();
  locks.acquire("orders/42").release();
  std::optional<held_lock> held;
  EXPECT_EQ(of([&] { held = locks.try_acquire("orders/42"); }), 1);
}

TEST_F(round_trips, of_being_refused_are_one) {
  auto locks = connect_warm();
  const auto held = locks.acquire("orders/42");
  EXPECT_EQ(of([&] { EXPECT_FALSE(locks.try_acquire("orders/42").has_value()); }), 1);
}

TEST_F(round_trips, of_a_release_are_one) {
  auto locks = connect_warm();
  auto held = locks.acquire("orders/42");
  EXPECT_EQ(of([&] { held.release(); }), 1);
}

TEST_F(round_trips, of_an_extend_are_one) {
  auto locks = connect_warm();
  auto held = locks.acquire("orders/42");
  EXPECT_EQ(of([&] { held.extend(long_lease); }), 1);
}

TEST_F(round_trips, of_a_cycle_are_two_with_transaction_pooling_too) {
  auto locks = connect_warm({.transaction_pooling = true});
  EXPECT_EQ(of([&] { locks.acquire("orders/42").release(); }), 2);
}

/// Many names at once.
class batch : public round_trips {
 protected:
  static constexpr int size = 32;

  void SetUp() override {
    connect().close();
    for (int i = 0; i < size; ++i) texts_.push_back("orders/" + std::to_string(i));
    for (const auto& text : texts_) {
      attempts_.push_back(
          {.name = text, .owner = "app:1:1:1", .thread = "1", .acquisition = text, .note = {}, .lease = long_lease});
      held_.push_back({.name = text, .acquisition = text, .lease = long_lease});
    }
  }
  std::vector<std::string> texts_;
  std::vector<strategies::attempt> attempts_;
  std::vector<strategies::held> held_;
};

TEST_F(batch, needs_one_round_trip_a_step_whatever_its_size) {
  steps all{db().url_through(proxy().port())};
  for (int round = 0; round < 2; ++round) {
    const int preparing = round == 0 ? 1 : 0;
    EXPECT_EQ(of([&] {
                for (const auto& a : all.acquire(attempts_)) EXPECT_EQ(a.what, strategies::verdict::granted);
              }),
              1 + preparing);
    EXPECT_EQ(of([&] {
                for (const auto& r : all.renew(held_)) EXPECT_EQ(r.what, strategies::standing::kept);
              }),
              1 + preparing);
    EXPECT_EQ(of([&] {
                for (const auto r : all.release(held_)) EXPECT_EQ(r, strategies::letting_go::released);
              }),
              1 + preparing);
  }
}

TEST_F(batch, of_held_names_is_refused_in_one_round_trip) {
  steps all{db().url_through(proxy().port())};
  all.acquire(attempts_);
  EXPECT_EQ(of([&] {
              for (const auto& a : all.acquire(attempts_)) EXPECT_EQ(a.what, strategies::verdict::busy);
            }),
            1);
}

}  // namespace
}  // namespace rowlock::test
