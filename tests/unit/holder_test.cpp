#include <gtest/gtest.h>
#include <rowlock/error.hpp>
#include <rowlock/holder.hpp>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"

namespace rowlock::test {
namespace {

using namespace std::string_literals;

holder of_another_thread() {
  auto out = holder::unique();
  std::thread{[&] { out = holder::this_thread(); }}.join();
  return out;
}

TEST(holder_test, a_thread_is_always_the_same) {
  EXPECT_EQ(holder::this_thread(), holder::this_thread());
  EXPECT_EQ(holder::this_thread().text(), holder::this_thread().text());
}

struct at_the_end {
  std::string* to = nullptr;
  ~at_the_end() {
    if (to != nullptr) *to = holder::this_thread().text();
  }
};
thread_local at_the_end last;

TEST(holder_test, a_thread_is_the_same_to_its_very_end) {
  std::string before;
  std::string after;
  std::thread{[&] {
    last.to = &after;  // made before the library's own objects of this thread, and so destroyed after them
    before = holder::this_thread().text();
  }}.join();
  EXPECT_EQ(after, before);
  EXPECT_FALSE(after.empty());
}

// The operating system gives the number of an ended thread to the next one.
TEST(holder_test, two_threads_are_two_even_if_one_has_ended) {
  std::set<holder> seen{holder::this_thread()};
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(of_another_thread()).second) << i;
}

TEST(holder_test, unique_ones_of_many_threads_equal_no_other) {
  std::vector<std::vector<holder>> made(8);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : made)
      threads.emplace_back([&mine] {
        for (int i = 0; i < 1000; ++i) mine.push_back(holder::unique());
      });
  }
  std::set<holder> seen{holder::this_thread()};
  for (const auto& each : made) seen.insert(each.begin(), each.end());
  EXPECT_EQ(seen.size(), 8001U);
}

TEST(holder_test, a_name_is_an_identity) {
  EXPECT_EQ(holder::named("request-7"), holder::named("request-7"));
  EXPECT_NE(holder::named("request-7"), holder::named("request-8"));
  EXPECT_NE(holder::named("a"), holder::named("A"));
  EXPECT_NE(holder::named("a"), holder::named("a "));
}

// A name that looks like a thread, or like a unique holder, must not become one.
TEST(holder_test, a_name_is_never_a_thread_nor_a_unique_one) {
  EXPECT_NE(holder::named(holder::this_thread().text()), holder::this_thread());
  const auto unique = holder::unique();
  EXPECT_NE(holder::named(unique.text()), unique);
}

TEST(holder_test, shows_the_name_to_people) {
  EXPECT_NE(holder::named("request-7").text().find("request-7"), std::string_view::npos);
  EXPECT_FALSE(holder::this_thread().text().empty());
  EXPECT_FALSE(holder::unique().text().empty());
}

TEST(holder_test, takes_1_to_200_bytes_of_utf8_and_says_so) {
  EXPECT_NO_THROW(static_cast<void>(holder::named("x")));
  EXPECT_NO_THROW(static_cast<void>(holder::named(std::string(200, 'x'))));
  EXPECT_NO_THROW(static_cast<void>(holder::named("\xf0\x9f\x94\x92")));
  for (const auto& bad :
       {""s, std::string(201, 'x'), "a\0b"s, "\0"s, "\xff"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xe2\x82"s})
    EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(holder::named(bad)); })) << bad;
  EXPECT_TRUE(mentions(error_of([] { return holder::named(""); }), "200"));
  EXPECT_TRUE(mentions(error_of([] { return holder::named(std::string(201, 'x')); }), "200"));
  EXPECT_TRUE(mentions(error_of([] { return holder::named("\xff"); }), "UTF-8"));
}

TEST(holder_test, can_be_copied_and_ordered) {
  const auto original = holder::unique();
  const auto copy = original;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy, original);
  EXPECT_LT(holder::named("a"), holder::named("b"));
}

}  // namespace
}  // namespace rowlock::test
