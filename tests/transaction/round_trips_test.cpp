#include "support/tcp_proxy.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

/// What a call adds, once everything has been prepared.
struct costs {
  int own = 0;   ///< round trips of the caller's connection
  int pool = 0;  ///< and of the client's
};

/// A caller and a client whose round trips are counted.
class added_round_trips : public transaction_test {
 protected:
  added_round_trips() {
    make_rows({"orders/42"});
    for (int i = 0; i < 3; ++i) {
      const auto held = watched_.acquire("warm");
      by().begin();
      by().lock_in(watched_, "orders/42");
      by().confirm(held);
      by().commit();
    }
  }

  caller& by() { return *by_; }
  client& watched() { return watched_; }
  /// On PostgreSQL one, with a libpqxx that does not roll back what fails.
  int own() const { return is_on("mysql") || !by_->takes_several() ? 2 : 1; }
  template <class Call>
  void expect(const costs& expected, Call call) {
    const auto own = own_.round_trips();
    const auto pool = pool_.round_trips();
    call();
    EXPECT_EQ(own_.round_trips() - own, expected.own) << "of the caller's connection";
    EXPECT_EQ(pool_.round_trips() - pool, expected.pool) << "of the client's";
  }

 private:
  tcp_proxy own_{server().host(), server().port()};
  tcp_proxy pool_{server().host(), server().port()};
  std::unique_ptr<caller> by_ = open_caller(server().url_through(own_.port()), GetParam().isolation);
  client watched_ = connect_patiently(server().url_through(pool_.port()));
};
ROWLOCK_SUITE_IN(added_round_trips, on_servers(each_place()));

// Above READ COMMITTED, and on MySQL, the pool is asked before the transaction sees anything.
TEST_P(added_round_trips, of_lock_in_are_few_where_the_name_is_free_and_known) {
  const costs expected{.own = own(), .pool = is_on("mysql") || GetParam().keeps_snapshot ? 1 : 0};
  by().begin();
  by().statement(read_own);
  expect(expected, [&] { by().lock_in(watched(), "orders/42"); });
  by().commit();
}

TEST_P(added_round_trips, of_confirm_are_few) {
  const auto held = watched().acquire("orders/43");
  by().begin();
  by().statement(write_own);
  expect({.own = own()}, [&] { by().confirm(held); });
  by().commit();
}

}  // namespace
}  // namespace rowlock::test
