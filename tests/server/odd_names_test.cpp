#include <algorithm>

#include "server/server_test.hpp"
#include "server/steps.hpp"

namespace rowlock::test {
namespace {

/// Any two of them are different, whatever a collation, SQL or an array's syntax would make of them.
const std::vector<std::string> odd_names = {"orders",
                                            "Orders",
                                            "ORDERS",
                                            "orders ",
                                            " orders",
                                            "orders\t",
                                            "orders\n",
                                            "'; DROP TABLE rowlock_lock; --",
                                            "' OR ''='",
                                            "\\",
                                            "\\'",
                                            "\"",
                                            "\"\"",
                                            "a\"b",
                                            "{",
                                            "}",
                                            "{}",
                                            "{a,b}",
                                            ",",
                                            "a,b",
                                            "NULL",
                                            "null",
                                            "$1",
                                            "%s",
                                            "%",
                                            "_",
                                            "E'\\x41'",
                                            "::text",
                                            "straße",
                                            "STRASSE",
                                            "strasse",
                                            "é",
                                            "e\xCC\x81",
                                            "ı",
                                            "I",
                                            "i",
                                            "日本語",
                                            "🔒",
                                            "\xEF\xBB\xBFz",
                                            "a",
                                            "\x01",
                                            "\x7F",
                                            "/*",
                                            "--",
                                            "\u202Ea",
                                            "а"};

class odd_names_test : public on_each_server {};
ROWLOCK_SUITE_ON_EACH_SERVER(odd_names_test);

TEST_P(odd_names_test, are_different_locks) {
  auto locks = connect();
  std::vector<held_lock> held;
  for (const auto& name : odd_names) {
    auto one = locks.try_acquire(name);
    ASSERT_TRUE(one.has_value()) << name;
    held.push_back(std::move(*one));
  }
  for (const auto& name : odd_names) {
    EXPECT_FALSE(locks.try_acquire(name).has_value()) << name;
    EXPECT_EQ(std::string{locks.find(name).value().name.view()}, name);
  }
  EXPECT_EQ(locks.list().size(), odd_names.size());
  EXPECT_EQ(locks.list("orders").size(), 4U) << "a prefix is one of bytes";
  EXPECT_EQ(locks.list("%").size(), 2U);
}

TEST_P(odd_names_test, are_different_queues) {
  auto locks = connect();
  for (const auto& name : odd_names) db().add_waiters(name, 2);
  const auto all = locks.list_waiters();
  EXPECT_EQ(all.size(), 2 * odd_names.size());
  for (const auto& name : odd_names) {
    const auto is_of = [&](const waiter_info& each) { return each.name == lock_name{name}; };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), is_of), 2) << name;
    EXPECT_EQ(locks.waiters(name).size(), 2U) << name;
  }
  EXPECT_EQ(locks.list_waiters("orders").size(), 8U) << "a prefix is one of bytes";
  EXPECT_EQ(locks.list_waiters("%").size(), 4U);
}

TEST_P(odd_names_test, are_different_locks_in_a_batch) {
  connect().close();
  steps all{db().url()};
  std::vector<std::string> ids;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < odd_names.size(); ++i) {
    ids.push_back("id/" + std::to_string(i));
    others.push_back("other/" + std::to_string(i));
  }
  std::vector<strategies::acquire_args> attempts;
  std::vector<store::lease_ref> held;
  for (std::size_t i = 0; i < odd_names.size(); ++i) {
    const auto& name = odd_names[i];
    attempts.push_back(
        {.name = name, .owner = name, .thread = name, .acquisition = ids[i], .note = name, .lease = 1min});
    held.push_back({.name = name, .acquisition = ids[i], .lease = 1min});
  }
  for (const auto& answer : all.acquire(attempts)) EXPECT_EQ(answer.what, strategies::verdict::granted);
  for (const auto& name : odd_names) {
    EXPECT_EQ(db().row(name).value().owner, name);
    EXPECT_EQ(db().row(name).value().note, name);
  }
  for (std::size_t i = 0; i < odd_names.size(); ++i) attempts[i].acquisition = others[i];
  for (const auto& answer : all.acquire(attempts)) EXPECT_EQ(answer.what, strategies::verdict::busy);
  for (const auto& answer : all.renew(held)) EXPECT_EQ(answer.what, store::standing::kept);
  for (const auto outcome : all.release(held)) EXPECT_EQ(outcome, store::release_outcome::released);
}

TEST_P(odd_names_test, are_refused_where_they_are_no_utf8) {
  auto locks = connect();
  EXPECT_TRUE(throws(errc::invalid_name, [&] { static_cast<void>(locks.try_acquire("\xFF")); }));
  EXPECT_TRUE(throws(errc::invalid_name, [&] { static_cast<void>(locks.try_acquire(std::string{"a\0b", 3})); }));
}

}  // namespace
}  // namespace rowlock::test
