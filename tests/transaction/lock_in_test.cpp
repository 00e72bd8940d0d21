#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

class lock_in : public transaction_test {};
ROWLOCK_SUITE_IN(lock_in, each_place());
ROWLOCK_SUITE_LIKE_IN(lock_in_beside_others, lock_in, beside_others(each_place()));
ROWLOCK_SUITE_LIKE_IN(lock_in_on_servers, lock_in, on_servers(each_place()));

TEST_P(lock_in, keeps_the_name_from_every_strategy_until_the_commit) {
  for (const auto by : all_strategies) {
    const auto lock = begin_and_lock_in();
    EXPECT_EQ(lock.name(), lock_name{"orders/42"});
    EXPECT_FALSE(can_have("orders/42", by)) << to_string(by);
    tx().statement(write_own);
    tx().commit();
    EXPECT_TRUE(can_have("orders/42", by)) << to_string(by);
  }
  EXPECT_EQ(value(), 3);
}

// As where the clock was set back behind what was deleted.
TEST_P(lock_in, begins_a_new_name_above_what_was_swept) {
  const auto floor = db().now() + 3'600'000'000;
  db().raise_floor(floor);
  const auto lock = begin_and_lock_in("orders/44");
  EXPECT_GT(lock.token().value(), floor);
  tx().commit();
  tx().optimistically_without_result(locks(), "orders/45", [] {});
  EXPECT_GT(db().row("orders/45").value().version, floor);
}

TEST_P(lock_in, is_kept_out_by_every_strategy) {
  for (const auto by : all_strategies) {
    auto held = others().acquire("orders/42", {.strategy = by});
    EXPECT_FALSE(can_lock_in()) << to_string(by);
    held.release();
    EXPECT_TRUE(can_lock_in()) << to_string(by);
  }
}

TEST_P(lock_in_beside_others, is_kept_out_by_another_transaction) {
  const auto other = locked_elsewhere();
  EXPECT_FALSE(can_lock_in());
  other->commit();
  EXPECT_TRUE(can_lock_in());
}

TEST_P(lock_in_on_servers, leaves_other_names_alone) {
  begin_and_lock_in();
  EXPECT_TRUE(can_have("orders/43"));
  const auto other = open();
  other->begin();
  EXPECT_TRUE(other->try_lock_in(others(), "orders/44").has_value());
  other->commit();
  tx().commit();
}

TEST_P(lock_in, lets_go_by_rollback_and_keeps_the_row_that_it_has_made) {
  ASSERT_FALSE(db().row("orders/42").has_value());
  begin_and_lock_in();
  tx().statement(write_own);
  tx().rollback();
  EXPECT_TRUE(!is_on_server() || db().row("orders/42").has_value());
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_EQ(value(), 0);
}

TEST_P(lock_in, outlives_its_object_and_lets_go_when_the_connection_is_closed) {
  begin_and_lock_in();
  tx().statement(write_own);
  EXPECT_FALSE(can_have("orders/42"));
  drop_tx();
  EXPECT_TRUE(can_have_soon("orders/42"));
  EXPECT_EQ(value(), 0);
}

TEST_P(lock_in, may_be_repeated_in_the_same_transaction) {
  const auto first = begin_and_lock_in();
  const auto again = tx().lock_in(locks(), "orders/42");
  const auto once_more = tx().try_lock_in(locks(), "orders/42");
  ASSERT_TRUE(once_more.has_value());
  EXPECT_GE(again.token(), first.token());
  EXPECT_GE(once_more->token(), again.token());
  EXPECT_FALSE(can_have("orders/42"));
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(lock_in, takes_two_names_in_one_transaction) {
  make_rows({"orders/42", "orders/43"});
  begin_and_lock_in();
  tx().lock_in(locks(), "orders/43");
  EXPECT_FALSE(can_have("orders/42"));
  EXPECT_FALSE(can_have("orders/43"));
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_TRUE(can_have("orders/43"));
}

TEST_P(lock_in, gives_tokens_that_grow_in_every_order) {
  const auto in_transaction = [&](bool commits) {
    tx().begin();
    const auto token = tx().lock_in(locks(), "orders/42").token();
    commits ? tx().commit() : tx().rollback();
    return token;
  };
  std::vector<std::function<fencing_token()>> ways{[&] { return in_transaction(true); },
                                                   [&] { return in_transaction(false); }};
  for (const auto by : all_strategies)
    ways.emplace_back([&, by] { return others().acquire("orders/42", {.strategy = by}).token(); });
  fencing_token latest;
  const auto expect_newer = [&](std::size_t way) {
    const auto token = ways[way]();
    EXPECT_GT(token, latest) << "way " << way;
    latest = token;
  };
  for (std::size_t first = 0; first < ways.size(); ++first)
    for (std::size_t second = 0; second < ways.size(); ++second) {
      expect_newer(first);
      expect_newer(second);
    }
}

TEST_P(lock_in, takes_an_expired_lease_over_and_its_holder_learns_of_it) {
  auto held = others().acquire("orders/42", {.renew = false});
  auto renewed = others().acquire("orders/43");
  for (const auto* name : {"orders/42", "orders/43"}) db().expire(name);
  for (const auto* late : {&held, &renewed}) {
    tx().begin();
    EXPECT_GT(tx().lock_in(locks(), late->name()).token(), late->token());
    tx().commit();
  }
  const auto late = open();
  late->begin();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { late->confirm(held); }));
  late->rollback();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(30s); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { renewed.release(); }));
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(lock_in, leaves_no_owner) {
  tx().begin();
  tx().lock_in(locks(), "orders/42", {.note = "Umzug"});
  tx().commit();
  EXPECT_FALSE(db().row("orders/42").value().owner.has_value()) << "a commit lets go";
  EXPECT_FALSE(others().find("orders/42").has_value());
}

class try_lock_in : public transaction_test {};
ROWLOCK_SUITE_IN(try_lock_in, each_place());
ROWLOCK_SUITE_LIKE_IN(try_lock_in_on_servers, try_lock_in, on_servers(each_place()));
ROWLOCK_SUITE_LIKE_IN(try_lock_in_beside_others, try_lock_in, beside_others(each_place()));

TEST_P(try_lock_in, that_found_a_lease_leaves_the_transaction_as_it_was) {
  auto held = others().acquire("orders/42");
  tx().begin();
  tx().statement(write_own);
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
  EXPECT_EQ(tx().number(read_own), 1);
  tx().statement(write_own);
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
  tx().commit();
  EXPECT_EQ(value(), 2);
  EXPECT_NO_THROW(held.release());
}

TEST_P(try_lock_in_on_servers, that_found_a_transaction_leaves_its_own_as_it_was) {
  const auto other = locked_elsewhere();
  tx().begin();
  tx().statement(write_own);
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
  tx().statement(write_own);
  tx().commit();
  other->commit();
  EXPECT_EQ(value(), 2);
}

// As after a sweep: who has looked for a row that is not there may keep everybody from making it.
TEST_P(try_lock_in_on_servers, does_not_wait_for_what_its_own_transaction_prevents) {
  tx().begin();
  tx().statement("SELECT version FROM rowlock_lock WHERE name = 'orders/42' FOR UPDATE");
  const stopwatch watch;
  const auto e = error_of([&] { return tx().try_lock_in_for(locks(), "orders/42", patience).has_value(); });
  EXPECT_LT(watch.elapsed(), patience / 2);
  EXPECT_EQ(e.has_value(), GetParam().keeps_snapshot || GetParam().locks_reads);
  EXPECT_TRUE(!e || e->is_retryable()) << e->what();
  tx().rollback();
  tx().begin();
  EXPECT_TRUE(tx().try_lock_in_for(locks(), "orders/42", patience).has_value()) << "begun again";
  tx().rollback();
}

TEST_P(try_lock_in_beside_others, that_found_a_lease_does_not_stand_in_its_way) {
  auto held = others().acquire("orders/42", {.lease = brisk_lease});
  tx().begin();
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(can_have("orders/42"));
  tx().rollback();
}

}  // namespace
}  // namespace rowlock::test
