#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class names : public contract {};
ROWLOCK_CONTRACT_SUITE(names, usual_pairs());
class names_of_rows : public names {};
ROWLOCK_CONTRACT_SUITE(names_of_rows, rows(usual_pairs()));

/// What has confused one database or another. Every two of these are two names.
std::vector<std::string> odd_names() {
  return {
      "a",
      "A",
      "a ",
      " a",
      "a\t",
      "a\n",
      " ",
      "  ",
      "0",
      "00",
      "0x41",
      "1e1",
      "10",
      "null",
      "NULL",
      "\x01",
      "\x7f",
      std::string(254, 'x'),
      std::string(255, 'x'),
      std::string(254, 'x') + "y",
      "o'brien",
      "o''brien",
      "\"quoted\"",
      "`ticked`",
      "[bracketed]",
      "back\\slash",
      "back\\\\slash",
      "x'); DROP TABLE rowlock_lock; --",
      "' OR '1'='1",
      "?",
      "?1",
      ":name",
      "$1",
      "@p",
      "%s",
      "100%",
      "a_b",
      "%",
      "_",
      "{}",
      "caf\xc3\xa9",                       // e with acute as one code point
      "cafe\xcc\x81",                      // and as two
      "\xf0\x9f\x94\x92",                  // an emoji
      "\xf0\x9f\x94\x92\xef\xb8\x8f",      // with a variation selector
      "\xe2\x80\x8b",                      // zero width space
      "\xef\xbb\xbf\x61",                  // byte order mark and a
      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",  // right to left
      "\xc4\xb0",                          // capital I with dot
      "\xc5\xbf",                          // long s, which some collations take for s
      "s",
      "\xc3\x9f",  // sharp s
      "ss",
      "\xf4\x8f\xbf\xbf",  // U+10FFFF
      "\xef\xbf\xbf",
  };
}

TEST_P(names, every_odd_one_is_a_name_of_its_own) {
  auto locks = connect();
  auto other = connect();
  std::vector<held_lock> all;
  if (GetParam().holds_by_transaction) locks = connect({.held_transactions = odd_names().size()});
  for (const auto& name : odd_names()) {
    auto held = locks.try_acquire(name, with());
    ASSERT_TRUE(held.has_value()) << name;
    EXPECT_EQ(held->name().view(), name);
    all.push_back(std::move(*held));
  }
  for (const auto& name : odd_names()) EXPECT_FALSE(can_have(other, name)) << name;
  EXPECT_EQ(locks.list().size(), all.size());
  all.clear();
  EXPECT_TRUE(locks.list().empty());
  for (const auto& name : odd_names()) EXPECT_TRUE(can_have(other, name)) << name;
}

TEST_P(names, are_kept_byte_for_byte) {
  auto locks = connect();
  for (const auto& name : odd_names()) {
    const auto held = locks.acquire(name, with());
    const auto row = db().row(name);
    ASSERT_TRUE(row.has_value()) << name;
    if (!GetParam().holds_by_transaction) {
      EXPECT_EQ(row->version, held.token().value());
    }
    const auto found = locks.find(name);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->name.view(), name);
  }
}

TEST_P(names, the_longest_of_all_works_in_every_call) {
  auto locks = connect();
  std::string longest;
  while (longest.size() + 4 <= 255) longest += "\xf0\x9f\x94\x92";
  longest += std::string(255 - longest.size(), 'x');
  auto held = locks.acquire(longest, with());
  if (GetParam().has_lease) held.extend(1h);
  EXPECT_FALSE(locks.try_acquire_for(longest, 1ms, with()).has_value());
  EXPECT_EQ(locks.list(longest).size(), 1U);
  EXPECT_EQ(locks.list(longest.substr(0, 40)).size(), 1U);
  mutex order{locks, longest, with()};
  EXPECT_FALSE(order.try_lock());
  held.release();
  EXPECT_TRUE(order.try_lock());
  order.unlock();
}

TEST_P(names_of_rows, notes_and_holders_are_not_sql_either) {
  auto locks = connect();
  for (const auto* text : {"'); DROP TABLE rowlock_lock; --", "\"", "\\", "a\nb", "\xf0\x9f\x94\x92", "NULL"}) {
    const auto held = locks.acquire("orders/42", with({.as = holder::named(text), .note = text}));
    const auto found = locks.find("orders/42").value();
    EXPECT_EQ(found.note, text);
    EXPECT_EQ(found.thread, holder::named(text).text());
  }
  EXPECT_TRUE(db().has_table("rowlock_lock"));
}

}  // namespace
}  // namespace rowlock::test
