#include "server/server_test.hpp"
#include "support/test_thread.hpp"

// The replies to what records a run are lost, in every way.

namespace rowlock::test {
namespace {

constexpr auto* nightly = "nightly";
constexpr auto period = 24h * 366;  // its end comes once in a year, so hardly ever in a test

struct way_to_lose {
  const char* name;
  tcp_proxy::action how;
};

std::ostream& operator<<(std::ostream& out, const way_to_lose& w) { return out << w.name; }

constexpr way_to_lose ways[] = {{"cut_before", tcp_proxy::action::cut_before},
                                {"cut_after", tcp_proxy::action::cut_after},
                                {"black_hole_before", tcp_proxy::action::black_hole_before},
                                {"black_hole_after", tcp_proxy::action::black_hole_after}};

class run_with_a_lost_reply : public on_each_with<proxy_test, way_to_lose> {
 protected:
  /// Requests about the job that contain the number, as text or as eight bytes.
  static tcp_proxy::bytes_test with_number(std::int64_t number) {
    return [is_about = about(nightly), number](std::string_view request) {
      const std::string_view as_bytes{reinterpret_cast<const char*>(&number), sizeof number};
      const auto has = [&](std::string_view what) { return request.find(what) != std::string_view::npos; };
      return is_about(request) && (has(std::to_string(number)) || has(as_bytes));
    };
  }
  std::int64_t runs() { return db().number("SELECT count(*) FROM rowlock_job_run"); }

  client locks_ = connect_through_proxy();
  const held_lock held_ = locks_.acquire(nightly, {.lease = long_lease});
};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(run_with_a_lost_reply, ways);

using run_without_a_server = on_each_server_by_proxy;
ROWLOCK_SUITE_ON_EACH_SERVER(run_without_a_server);

TEST_P(run_with_a_lost_reply, to_its_begin_is_begun_once) {
  constexpr duration wait{123'456'789};  // only begin_run has it
  job mine{locks_, nightly, {.every = period, .retries = 5, .retry_wait = wait, .lock = {.lease = long_lease}}};
  on_request(with_number(wait.count()), what().how);
  const auto begun = mine.begin(held_);
  EXPECT_TRUE(proxy().has_acted());
  EXPECT_EQ(begun.what, job_status::begun);
  EXPECT_EQ(begun.run.value().attempt, 1);
  EXPECT_EQ(mine.finish(held_, *begun.run, {}).what, job_status::succeeded);
  EXPECT_EQ(runs(), 1);
}

TEST_P(run_with_a_lost_reply, to_its_end_has_that_end) {
  job mine{locks_, nightly, {.every = period, .lock = {.lease = long_lease}}};
  const auto begun = mine.begin(held_);
  on_request(tcp_proxy::contains(nightly, "timed_out"), what().how);
  const auto out = mine.finish(held_, *begun.run, {.result = job_result::timed_out, .output = "some"});
  EXPECT_TRUE(proxy().has_acted());
  EXPECT_EQ(out.what, job_status::timed_out);
  EXPECT_EQ(out.run.value().output, "some");
  EXPECT_EQ(runs(), 1);
}

TEST_P(run_with_a_lost_reply, to_its_end_after_its_lock_was_lost_is_lost) {
  job mine{locks_, nightly, {.every = period, .retries = 1, .lock = {.lease = long_lease}}};
  auto other = connect();
  job its{other, nightly, {.every = period, .retries = 1}};
  const auto begun = mine.begin(held_);
  db().expire(nightly);
  const auto theirs = other.acquire(nightly);
  const auto next = its.begin(theirs);
  on_request(tcp_proxy::contains(nightly, "succeeded"), what().how);
  EXPECT_EQ(mine.finish(held_, *begun.run, {}).what, job_status::lost);
  EXPECT_TRUE(proxy().has_acted());
  EXPECT_EQ(its.finish(theirs, *next.run, {}).what, job_status::succeeded);
  EXPECT_EQ(db().number("SELECT count(*) FROM rowlock_job_run WHERE succeeded = 1"), 1);
}

// Not until the lease is over is it certain that nothing is written any more; and whether something was, the server
// alone can say.
TEST_P(run_without_a_server, has_an_unknown_end_once_its_lease_is_over) {
  auto locks = connect_through_proxy();
  job mine{locks, nightly, {.every = period}};
  const auto held = locks.acquire(nightly, {.lease = 2s, .renew = false});
  const auto begun = mine.begin(held);
  ASSERT_EQ(begun.what, job_status::begun);
  on_request(tcp_proxy::contains(nightly, "succeeded"), tcp_proxy::action::cut_before);
  proxy().refuse(true);
  const test_thread away{[&] {
    if (eventually([&] { return proxy().has_acted(); })) proxy().cut();
  }};
  const auto thrown = error_of([&] { return mine.finish(held, *begun.run, {}); });
  EXPECT_TRUE(thrown.value().outcome_is_unknown()) << thrown->what();
  EXPECT_NE(held.why_lost(), loss_reason::none);
}

}  // namespace
}  // namespace rowlock::test
