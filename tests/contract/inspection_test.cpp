#include <unistd.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class inspection : public two_clients {
 protected:
  using names = std::vector<std::string>;

  template <class Infos>
  static names names_of(const Infos& all) {
    names out;
    for (const auto& each : all) out.emplace_back(each.name.view());
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(inspection, usual_pairs());

/// Locks, and those who wait for them.
class listed : public inspection {
 protected:
  /// Each is held by one of the clients, and waited for.
  void take_all(const names& all) {
    for (const auto& name : all) {
      held_.push_back((held_.size() % 2 == 0 ? locks_ : other_).acquire(name, with()));
      db().enqueue(name);
    }
  }
  void expect_listed(const std::string& prefix, const names& expected) {
    EXPECT_EQ(names_of(locks_.list(prefix)), expected) << prefix;
    EXPECT_EQ(names_of(other_.list(prefix)), expected) << prefix;
    EXPECT_EQ(names_of(locks_.list_waiters(prefix)), expected) << prefix;
  }

  std::vector<held_lock> held_;
};
ROWLOCK_CONTRACT_SUITE(listed, usual_pairs());

class inspection_of_rows : public inspection {};
ROWLOCK_CONTRACT_SUITE(inspection_of_rows, rows(every_pair()));
class inspection_of_leases : public inspection {};
ROWLOCK_CONTRACT_SUITE(inspection_of_leases, leases(every_pair()));
class inspection_of_transactions : public inspection {};
ROWLOCK_CONTRACT_SUITE(inspection_of_transactions, transactions(every_pair()));

TEST_P(inspection_of_rows, find_tells_who_holds_it) {
  auto locks = connect({.application = "shop"});
  const auto held = locks.acquire("orders/42", with({.as = holder::named("request-7"), .note = "nightly run"}));
  const auto info = other_.find("orders/42");
  ASSERT_TRUE(info.has_value());
  const auto listed = other_.list().at(0);
  EXPECT_EQ(std::tie(listed.name, listed.token, listed.owner, listed.thread, listed.note),
            std::tie(info->name, info->token, info->owner, info->thread, info->note));
  EXPECT_EQ(listed.expires_in.has_value(), info->expires_in.has_value());
  EXPECT_EQ(info->name.view(), "orders/42");
  EXPECT_EQ(info->token, held.token());
  EXPECT_EQ(info->thread, holder::named("request-7").text());
  EXPECT_EQ(info->note, "nightly run");
  EXPECT_EQ(info->owner.substr(0, 5), "shop:");
  EXPECT_NE(info->owner.find(":" + std::to_string(::getpid()) + ":"), std::string::npos) << info->owner;
  EXPECT_EQ(std::count(info->owner.begin(), info->owner.end(), ':'), 3) << info->owner;
  EXPECT_EQ(info->owner, db().row("orders/42").value().owner);
}

TEST_P(inspection, find_tells_since_when_and_until_when) {
  const auto before = db().now();
  const auto held = locks_.acquire("orders/42", with({.lease = 1h}));
  const auto first = locks_.find("orders/42").value();
  if (!GetParam().holds_by_transaction) {
    ASSERT_TRUE(first.held_for.has_value());
    EXPECT_GE(*first.held_for, 0us);
    EXPECT_LE(first.held_for->count(), db().now() - before);
    ASSERT_TRUE(eventually([&] { return locks_.find("orders/42").value().held_for > *first.held_for; }));
  }
  if (!GetParam().has_lease) {
    EXPECT_FALSE(first.expires_in.has_value());
    EXPECT_TRUE(first.held_by_transaction);
    EXPECT_TRUE(locks_.list().at(0).held_by_transaction);
  } else {
    EXPECT_FALSE(first.held_by_transaction);
    ASSERT_TRUE(first.expires_in.has_value());
    EXPECT_LE(*first.expires_in, 1h);
    EXPECT_GT(*first.expires_in, 55min);
  }
}

TEST_P(inspection_of_leases, what_has_expired_is_not_shown) {
  const auto kept = locks_.acquire("kept", with());
  const auto held = locks_.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  EXPECT_TRUE(eventually([&] { return !locks_.find("orders/42").has_value(); }));
  EXPECT_EQ(names_of(locks_.list()), names{"kept"});
}

TEST_P(listed, are_in_the_order_of_bytes_and_only_what_is_held) {
  take_all({"b", "a", "\xc3\xa9", "B", "ab", "a ", "10", "2"});
  locks_.acquire("released", with()).release();
  expect_listed("", {"10", "2", "B", "a", "a ", "ab", "b", "\xc3\xa9"});
  held_.clear();
  EXPECT_TRUE(locks_.list().empty());
}

TEST_P(listed, are_those_with_a_prefix_in_which_nothing_is_a_pattern) {
  take_all({"orders", "orders/", "orders/1", "orders/2", "orders0", "order", "Orders/1", "x/orders/1", "100%",
            "100% sure", "1000", "a_b", "axb", "a*", "ab", "[ab]c", "a'c", "a\\c", "a\"c"});
  const std::pair<const char*, names> all[] = {{"orders/", {"orders/", "orders/1", "orders/2"}},
                                               {"orders/1", {"orders/1"}},
                                               {"orders/3", {}},
                                               {"100%", {"100%", "100% sure"}},
                                               {"a_", {"a_b"}},
                                               {"a*", {"a*"}},
                                               {"[", {"[ab]c"}},
                                               {"a'", {"a'c"}},
                                               {"a\\", {"a\\c"}},
                                               {"a\"", {"a\"c"}},
                                               {"%", {}},
                                               {"_", {}}};
  for (const auto& [prefix, expected] : all) expect_listed(prefix, expected);
  EXPECT_EQ(locks_.list("").size(), held_.size());
}

TEST_P(listed, are_those_with_a_prefix_that_ends_at_an_edge_of_utf8) {
  const names edges{"p\x7f",              // the last of one byte
                    "p\xdf\xbf",          // U+07FF, the last of two
                    "p\xed\x9f\xbf",      // U+D7FF, before the surrogates
                    "p\xef\xbf\xbf",      // U+FFFF, the last of three
                    "p\xf4\x8f\xbf\xbf",  // U+10FFFF, the last of all
                    "\xf4\x8f\xbf\xbf"};
  for (const auto& edge : edges) take_all({edge, edge + "tail"});
  take_all({"q"});
  for (const auto& edge : edges) expect_listed(edge, {edge, edge + "tail"});
  EXPECT_EQ(locks_.list("p").size(), 2 * edges.size() - 2);
}

TEST_P(inspection, the_locks_of_a_foreign_client_are_shown_too) {
  locks_.acquire("orders/42", with()).release();
  db().steal("orders/42");
  const auto info = locks_.find("orders/42");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->thread, "thief");
  EXPECT_FALSE(can_have(locks_, "orders/42"));
}

TEST_P(inspection_of_transactions, a_session_of_the_server_is_told_of_where_a_transaction_holds_it) {
  auto locks = connect({.held_transactions = 2});
  const auto session = [&](const char* name) {
    const auto thread = other_.find(name).value().thread;
    EXPECT_EQ(thread, other_.list(name).at(0).thread);
    EXPECT_EQ(thread.substr(0, 8), "session ") << thread;
    return std::stoll(thread.substr(8));
  };
  auto held = locks.acquire("orders/42", with());
  const auto another = locks.acquire("orders/43", with());
  const auto first = session("orders/42");
  EXPECT_NE(first, session("orders/43"));
  held.release();
  EXPECT_FALSE(other_.find("orders/42").has_value()) << "what it has left in the row says nothing";
  held = locks.acquire("orders/42", with());
  EXPECT_EQ(session("orders/42"), first) << "by the same connection again";
}

TEST_P(inspection, check_is_content_where_all_is_well) {
  EXPECT_NO_THROW(locks_.check());
  const auto held = locks_.acquire("orders/42", with());
  EXPECT_NO_THROW(locks_.check()) << "also while locks are held";
  EXPECT_EQ(locks_.list().size(), 1U) << "and leaves no lock of its own";
}

TEST_P(inspection_of_rows, more_locks_than_any_page) {
  std::vector<held_lock> all;
  for (int i = 0; i < 300; ++i) all.push_back(locks_.acquire("job/" + std::to_string(1000 + i), with({.lease = 5min})));
  const auto listed = names_of(locks_.list("job/"));
  EXPECT_EQ(listed.size(), 300U);
  EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end()));
}

}  // namespace
}  // namespace rowlock::test
