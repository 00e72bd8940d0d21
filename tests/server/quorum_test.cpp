#include "server/server_test.hpp"

// A quorum of five databases, each with a way of its own that can be disturbed.

namespace rowlock::test {
namespace {

class quorum_by_proxies : public on_each_server {
 public:
  ~quorum_by_proxies() override {
    for (auto& each : ways_) each->black_hole(false);
  }

 protected:
  static constexpr std::size_t number = 5;

  quorum_by_proxies() {
    for (std::size_t i = 0; i < number; ++i) {
      places_.push_back(GetParam().open());
      ways_.push_back(std::make_unique<tcp_proxy>(places_[i]->host(), places_[i]->port()));
      straight_.push_back(connect_to(places_[i]->url()));
      straight_[i].migrate();
      disturbed_.push_back(connect_to(places_[i]->url_through(ways_[i]->port()), {.call_timeout = 1s}));
    }
  }
  void black_hole(std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) ways_[i]->black_hole(true);
  }
  static std::vector<std::reference_wrapper<client>> all(std::vector<client>& of) { return {of.begin(), of.end()}; }
  static bool has_all(const held_quorum& held) {
    return eventually([&] { return held.members().size() == number; });
  }
  bool is_free(std::size_t which) {
    return eventually(soon, [&] { return !straight_[which].find("job"); });
  }

  std::vector<std::unique_ptr<server_database>> places_;
  std::vector<std::unique_ptr<tcp_proxy>> ways_;
  std::vector<client> straight_;
  std::vector<client> disturbed_;
};
ROWLOCK_SUITE_ON_EACH_SERVER(quorum_by_proxies);

// Who gets it next gets it when the leases have ended. By then the first must not believe in it any more.
TEST_P(quorum_by_proxies, is_lost_before_another_can_have_it) {
  quorum_lock ours{all(disturbed_), "job", {.lease = 2s}};
  quorum_lock theirs{all(straight_), "job", {.lease = long_lease}};
  const auto held = ours.acquire();
  ASSERT_TRUE(has_all(held));
  black_hole(0, 2);
  EXPECT_TRUE(eventually([&] { return held.members().size() == 3; }));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(theirs.try_acquire());
  black_hole(2, 3);
  const auto next = theirs.try_acquire_for(soon);
  EXPECT_TRUE(held.lost().stop_requested());
  EXPECT_EQ(held.why_lost(), loss_reason::unreachable);
  EXPECT_TRUE(next);
}

TEST_P(quorum_by_proxies, lost_replies_leave_nothing_behind) {
  quorum_lock ours{all(disturbed_), "job", {.lease = long_lease}};
  ours.acquire().release();
  for (std::size_t i = 0; i < number; ++i) EXPECT_TRUE(is_free(i));
  for (const auto how : {tcp_proxy::action::cut_before, tcp_proxy::action::cut_after}) {
    for (std::size_t i = 0; i < 3; ++i)
      ways_[i]->on_request(tcp_proxy::contains("job"), how,
                           [&, i](std::string_view answer) { return places_[i]->is_complete(answer); });
    std::optional<held_quorum> held;
    EXPECT_TRUE(eventually([&] { return !error_of([&] { return (held = ours.try_acquire()).has_value(); }) && held; }));
    held.reset();
    for (std::size_t i = 0; i < number; ++i) EXPECT_TRUE(is_free(i)) << i;
  }
}

TEST_P(quorum_by_proxies, its_end_is_bounded_by_the_calls_under_way) {
  const stopwatch watch;
  {
    quorum_lock ours{all(disturbed_), "job", {.lease = long_lease}};
    EXPECT_TRUE(has_all(ours.acquire()));
    black_hole(0, number);
    EXPECT_TRUE(error_of([&] { return ours.try_acquire_for(100ms).has_value(); }));
  }
  EXPECT_LT(watch.elapsed(), 4s + slack()) << "a try is cut, and a release";
}

}  // namespace
}  // namespace rowlock::test
