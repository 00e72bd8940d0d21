#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class inspection : public contract {
 protected:
  static std::vector<std::string> names(const std::vector<lock_info>& all) {
    std::vector<std::string> out;
    for (const auto& each : all) out.emplace_back(each.name.view());
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(inspection, every_pair());
class inspection_of_rows : public inspection {};
ROWLOCK_CONTRACT_SUITE(inspection_of_rows, rows(every_pair()));
class inspection_of_leases : public inspection {};
ROWLOCK_CONTRACT_SUITE(inspection_of_leases, leases(every_pair()));
class inspection_of_transactions : public inspection {};
ROWLOCK_CONTRACT_SUITE(inspection_of_transactions, transactions(every_pair()));

TEST_P(inspection_of_rows, find_tells_who_holds_it) {
  auto locks = connect({.application = "shop"});
  auto other = connect();
  const auto held = locks.acquire("orders/42", with({.as = holder::named("request-7"), .note = "nightly run"}));
  const auto info = other.find("orders/42");
  ASSERT_TRUE(info.has_value());
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
  auto locks = connect();
  const auto before = db().now();
  const auto held = locks.acquire("orders/42", with({.lease = 1h}));
  const auto first = locks.find("orders/42").value();
  if (!GetParam().holds_by_transaction) {
    ASSERT_TRUE(first.held_for.has_value());
    EXPECT_GE(*first.held_for, 0us);
    EXPECT_LE(first.held_for->count(), db().now() - before);
    ASSERT_TRUE(eventually([&] { return locks.find("orders/42").value().held_for > *first.held_for; }));
  }
  if (!GetParam().has_lease) {
    EXPECT_FALSE(first.expires_in.has_value());
    EXPECT_TRUE(first.held_by_transaction);
    EXPECT_TRUE(locks.list().at(0).held_by_transaction);
  } else {
    EXPECT_FALSE(first.held_by_transaction);
    ASSERT_TRUE(first.expires_in.has_value());
    EXPECT_LE(*first.expires_in, 1h);
    EXPECT_GT(*first.expires_in, 55min);
  }
}

TEST_P(inspection, find_finds_nothing_that_is_free) {
  auto locks = connect();
  EXPECT_FALSE(locks.find("orders/42").has_value()) << "never heard of";
  locks.acquire("orders/42", with()).release();
  EXPECT_FALSE(locks.find("orders/42").has_value()) << "vacant";
}

TEST_P(inspection_of_leases, what_has_expired_is_not_shown) {
  auto locks = connect();
  const auto kept = locks.acquire("kept", with());
  const auto held = locks.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  EXPECT_TRUE(eventually([&] { return !locks.find("orders/42").has_value(); }));
  EXPECT_EQ(names(locks.list()), std::vector<std::string>{"kept"});
}

TEST_P(inspection, list_is_in_the_order_of_bytes_and_only_of_what_is_held) {
  auto locks = connect();
  auto other = connect();
  std::vector<held_lock> all;
  for (const auto* name : {"b", "a", "\xc3\xa9", "B", "ab", "a ", "10", "2"})
    all.push_back((all.size() % 2 == 0 ? locks : other).acquire(name, with()));
  locks.acquire("released", with()).release();
  const std::vector<std::string> sorted{"10", "2", "B", "a", "a ", "ab", "b", "\xc3\xa9"};
  EXPECT_EQ(names(locks.list()), sorted);
  EXPECT_EQ(names(other.list()), sorted);
  all.clear();
  EXPECT_TRUE(locks.list().empty());
}

TEST_P(inspection, list_by_prefix) {
  auto locks = connect();
  std::vector<held_lock> all;
  for (const auto* name : {"orders", "orders/", "orders/1", "orders/2", "orders0", "order", "Orders/1", "x/orders/1"})
    all.push_back(locks.acquire(name, with()));
  EXPECT_EQ(names(locks.list("orders/")), (std::vector<std::string>{"orders/", "orders/1", "orders/2"}));
  EXPECT_EQ(names(locks.list("orders/1")), std::vector<std::string>{"orders/1"});
  EXPECT_TRUE(locks.list("orders/3").empty());
  EXPECT_EQ(locks.list("").size(), all.size());
}

TEST_P(inspection, nothing_in_a_prefix_is_a_pattern) {
  auto locks = connect();
  std::vector<held_lock> all;
  for (const auto* name : {"100%", "100% sure", "1000", "a_b", "axb", "a*", "ab", "[ab]c", "a'c", "a\\c", "a\"c"})
    all.push_back(locks.acquire(name, with()));
  EXPECT_EQ(names(locks.list("100%")), (std::vector<std::string>{"100%", "100% sure"}));
  EXPECT_EQ(names(locks.list("a_")), std::vector<std::string>{"a_b"});
  EXPECT_EQ(names(locks.list("a*")), std::vector<std::string>{"a*"});
  EXPECT_EQ(names(locks.list("[")), std::vector<std::string>{"[ab]c"});
  EXPECT_EQ(names(locks.list("a'")), std::vector<std::string>{"a'c"});
  EXPECT_EQ(names(locks.list("a\\")), std::vector<std::string>{"a\\c"});
  EXPECT_EQ(names(locks.list("a\"")), std::vector<std::string>{"a\"c"});
  EXPECT_TRUE(locks.list("%").empty());
  EXPECT_TRUE(locks.list("_").empty());
}

TEST_P(inspection, a_prefix_that_ends_at_an_edge_of_utf8) {
  auto locks = connect();
  const std::vector<std::string> edges{"p\x7f",              // the last of one byte
                                       "p\xdf\xbf",          // U+07FF, the last of two
                                       "p\xed\x9f\xbf",      // U+D7FF, before the surrogates
                                       "p\xef\xbf\xbf",      // U+FFFF, the last of three
                                       "p\xf4\x8f\xbf\xbf",  // U+10FFFF, the last of all
                                       "\xf4\x8f\xbf\xbf"};
  std::vector<held_lock> all;
  for (const auto& edge : edges) {
    all.push_back(locks.acquire(edge, with()));
    all.push_back(locks.acquire(edge + "tail", with()));
  }
  const auto outside = locks.acquire("q", with());
  for (const auto& edge : edges)
    EXPECT_EQ(names(locks.list(edge)), (std::vector<std::string>{edge, edge + "tail"})) << edge;
  EXPECT_EQ(locks.list("p").size(), all.size() - 2);
}

TEST_P(inspection, list_shows_what_find_shows) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with({.note = "n"}));
  const auto found = locks.find("orders/42").value();
  const auto listed = locks.list().at(0);
  EXPECT_EQ(listed.name, found.name);
  EXPECT_EQ(listed.token, found.token);
  EXPECT_EQ(listed.owner, found.owner);
  EXPECT_EQ(listed.thread, found.thread);
  EXPECT_EQ(listed.note, found.note);
  EXPECT_EQ(listed.expires_in.has_value(), found.expires_in.has_value());
}

TEST_P(inspection, the_locks_of_a_foreign_client_are_shown_too) {
  auto locks = connect();
  locks.acquire("orders/42", with()).release();
  db().steal("orders/42");
  const auto info = locks.find("orders/42");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->thread, "thief");
  EXPECT_FALSE(can_have(locks, "orders/42"));
}

TEST_P(inspection_of_transactions, a_session_of_the_server_is_told_of_where_a_transaction_holds_it) {
  auto locks = connect({.held_transactions = 2});
  auto other = connect();
  const auto session = [&](const char* name) {
    const auto thread = other.find(name).value().thread;
    EXPECT_EQ(thread, other.list(name).at(0).thread);
    EXPECT_EQ(thread.substr(0, 8), "session ") << thread;
    return std::stoll(thread.substr(8));
  };
  auto held = locks.acquire("orders/42", with());
  const auto another = locks.acquire("orders/43", with());
  const auto first = session("orders/42");
  EXPECT_NE(first, session("orders/43"));
  held.release();
  EXPECT_FALSE(other.find("orders/42").has_value()) << "what it has left in the row says nothing";
  held = locks.acquire("orders/42", with());
  EXPECT_EQ(session("orders/42"), first) << "by the same connection again";
}

TEST_P(inspection, check_is_content_where_all_is_well) {
  auto locks = connect();
  EXPECT_NO_THROW(locks.check());
  const auto held = locks.acquire("orders/42", with());
  EXPECT_NO_THROW(locks.check()) << "also while locks are held";
  EXPECT_EQ(locks.list().size(), 1U) << "and leaves no lock of its own";
}

TEST_P(inspection_of_rows, more_locks_than_any_page) {
  auto locks = connect();
  std::vector<held_lock> all;
  for (int i = 0; i < 300; ++i) all.push_back(locks.acquire("job/" + std::to_string(1000 + i), with({.lease = 5min})));
  const auto listed = names(locks.list("job/"));
  EXPECT_EQ(listed.size(), 300U);
  EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end()));
}

}  // namespace
}  // namespace rowlock::test
