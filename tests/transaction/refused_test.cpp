#include <exception>

#include "transaction/transaction_test.hpp"

// What a transaction is refused, and that nothing is locked then.

namespace rowlock::test {
namespace {

class refused_lock_in : public transaction_test {
 protected:
  /// By every call that takes a transaction and a client.
  void expect_refused(caller& by, client& with, errc why) {
    EXPECT_TRUE(throws(why, [&] { by.lock_in(with, "orders/42"); }));
    EXPECT_TRUE(throws(why, [&] { static_cast<void>(by.try_lock_in(with, "orders/42")); }));
    EXPECT_TRUE(throws(why, [&] { static_cast<void>(by.try_lock_in_for(with, "orders/42", 100ms)); }));
  }
};
ROWLOCK_SUITE_IN(refused_lock_in, usual_places());
ROWLOCK_SUITE_LIKE_IN(refused_lock_in_not_on_postgresql, refused_lock_in, not_on("postgresql", usual_places()));
ROWLOCK_SUITE_LIKE_IN(refused_lock_in_on_servers, refused_lock_in, on_servers(usual_places()));

TEST_P(refused_lock_in, by_a_bad_name_or_note) {
  tx().begin();
  EXPECT_TRUE(throws(errc::invalid_name, [&] { tx().lock_in(locks(), ""); }));
  for (const auto& note : {std::string(1001, 'x'), std::string("\xff"), std::string("a\0b", 3)})
    EXPECT_TRUE(throws(errc::invalid_option, [&] { tx().lock_in(locks(), "orders/42", {.note = note}); }));
  EXPECT_NO_THROW(tx().lock_in(locks(), "orders/42", {.note = std::string(1000, 'x')}));
  expect_of_use();
}

TEST_P(refused_lock_in, by_a_closed_client) {
  auto closed = connect();
  auto held = closed.acquire("orders/43");
  closed.close();
  tx().begin();
  expect_refused(tx(), closed, errc::client_closed);
  EXPECT_TRUE(error_of([&] { tx().confirm(held); }).has_value());
  expect_of_use();
  EXPECT_TRUE(throws(errc::client_closed,
                     [&] { tx().optimistically_without_result(closed, "orders/42", [] { FAIL() << "it is run"; }); }));
}

TEST_P(refused_lock_in, by_a_client_of_another_kind_of_database) {
  for (const auto& kind : databases()) {
    if (is_on(kind.name)) continue;
    const auto elsewhere = kind.open();
    auto foreign = client::connect(elsewhere->url(), {.observer = silent()});
    foreign.migrate();
    const auto held = foreign.acquire("orders/43");
    tx().begin();
    expect_refused(tx(), foreign, errc::wrong_transaction_state);
    EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { tx().confirm(held); }));
    tx().statement(write_own);
    tx().rollback();
    EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] {
      tx().optimistically_without_result(foreign, "orders/42", [] { FAIL() << "it is run"; });
    }));
    EXPECT_FALSE(elsewhere->row("orders/42").has_value() && elsewhere->row("orders/42")->owner.has_value());
    EXPECT_TRUE(foreign.try_acquire("orders/42").has_value());
  }
}

TEST_P(refused_lock_in_not_on_postgresql, where_no_transaction_is_open) {
  expect_refused(tx(), locks(), errc::wrong_transaction_state);
  const auto held = others().acquire("orders/43");
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { tx().confirm(held); }));
  EXPECT_TRUE(can_have("orders/42"));
  tx().begin();
  EXPECT_NO_THROW(tx().lock_in(locks(), "orders/42"));
  expect_of_use();
}

TEST_P(refused_lock_in_on_servers, by_a_transaction_that_only_reads) {
  make_rows({"orders/42"});
  const bool is_postgresql = is_on("postgresql");
  if (!is_postgresql) tx().statement("SET SESSION TRANSACTION READ ONLY");
  tx().begin();
  if (is_postgresql) tx().statement("SET TRANSACTION READ ONLY");
  expect_refused(tx(), locks(), errc::wrong_transaction_state);
  EXPECT_EQ(tx().number(read_own), 0) << "the transaction is of use";
  tx().rollback();
  EXPECT_TRUE(can_have("orders/42"));
}

/// The transaction is on a database, and the client on another of the same kind.
class wrong_database : public transaction_test {
 protected:
  wrong_database() : elsewhere_{GetParam().database.open()}, far_{connect_far()} { far_.migrate(); }

  client connect_far(client_options options = {}) const {
    options.observer = silent();
    return client::connect(elsewhere_->url(), std::move(options));
  }
  client& far() { return far_; }
  database& elsewhere() { return *elsewhere_; }

  void expect_nothing_locked() {
    EXPECT_TRUE(can_have("orders/42"));
    EXPECT_TRUE(far().try_acquire("orders/42").has_value());
  }
  static testing::AssertionResult finds_wrong(const std::function<void()>& call) {
    const auto e = error_of([&] { call(); });
    if (!e) return testing::AssertionFailure() << "nothing was thrown";
    // Each table is named with its place, so the transaction may find none there, or may not look.
    for (const auto code : {errc::wrong_transaction_state, errc::schema_missing, errc::permission_denied})
      if (e->code() == code) return testing::AssertionSuccess();
    return testing::AssertionFailure() << e->what();
  }

 private:
  std::unique_ptr<database> elsewhere_;
  client far_;
};
ROWLOCK_SUITE_IN(wrong_database, usual_places());

TEST_P(wrong_database, with_tables_of_its_own_is_noticed) {
  make_rows({"orders/42"});
  const auto before = db().row("orders/42");
  tx().begin();
  EXPECT_TRUE(finds_wrong([&] { tx().lock_in(far(), "orders/42"); }));
  EXPECT_TRUE(finds_wrong([&] { static_cast<void>(tx().try_lock_in(far(), "orders/42")); }));
  EXPECT_EQ(tx().number(read_own), 0) << "the transaction is of use";
  tx().commit();
  EXPECT_EQ(db().row("orders/42")->version, before->version);
  expect_nothing_locked();
}

TEST_P(wrong_database, is_noticed_by_confirm) {
  const auto here = others().acquire("orders/42");
  const auto there = far().acquire("orders/42");
  tx().begin();
  EXPECT_TRUE(finds_wrong([&] { tx().confirm(there); }));
  EXPECT_NO_THROW(tx().confirm(here));
  tx().commit();
  EXPECT_FALSE(here.lost().stop_requested() || there.lost().stop_requested());
}

TEST_P(wrong_database, is_noticed_by_optimistically) {
  int runs = 0;
  EXPECT_TRUE(finds_wrong([&] { tx().optimistically_without_result(far(), "orders/42", [&] { ++runs; }); }));
  EXPECT_EQ(runs, 0);
  expect_nothing_locked();
  EXPECT_NO_THROW(tx().optimistically_without_result(locks(), "orders/42", [&] { ++runs; }));
  EXPECT_EQ(runs, 1);
}

TEST_P(wrong_database, without_these_tables_is_noticed) {
  for (const std::string prefix : {"shop_", "rowlock_"}) {
    auto elsewhere = connect_far({.table_prefix = prefix});
    elsewhere.migrate();
    if (prefix == "rowlock_") db().drop_tables();
    tx().begin();
    EXPECT_TRUE(finds_wrong([&] { tx().lock_in(elsewhere, "orders/42"); })) << prefix;
    tx().statement(write_own);
    tx().commit();
    EXPECT_TRUE(elsewhere.try_acquire("orders/42").has_value()) << prefix;
  }
  EXPECT_EQ(value(), 2) << "the transactions are of use";
}

TEST_P(wrong_database, is_not_what_a_prefix_in_the_same_makes) {
  auto prefixed = connect({.table_prefix = "shop_"});
  prefixed.migrate();
  tx().begin();
  EXPECT_NO_THROW(tx().lock_in(prefixed, "orders/42"));
  if (is_on_server()) {
    EXPECT_FALSE(prefixed.try_acquire("orders/42").has_value());
    EXPECT_TRUE(can_have("orders/42")) << "other tables, other locks";
  }
  tx().commit();
}

}  // namespace
}  // namespace rowlock::test
