#include <gtest/gtest.h>
#include <rowlock/error.hpp>
#include <rowlock/lock_name.hpp>

#include <string>
#include <unordered_set>

#include "support/errors.hpp"

namespace rowlock::test {
namespace {

using namespace std::string_literals;

TEST(lock_name_test, takes_what_converts_to_a_string_view) {
  const std::string text = "orders/42";
  EXPECT_EQ(lock_name{"orders/42"}.view(), text);
  EXPECT_EQ(lock_name{text}.view(), text);
  EXPECT_EQ(lock_name{std::string_view{text}}.view(), text);
  const lock_name converted = "orders/42";
  EXPECT_EQ(converted, lock_name{text});
}

TEST(lock_name_test, owns_its_text) {
  auto text = "orders/42"s;
  const lock_name name{text};
  text = "changed";
  EXPECT_EQ(name.view(), "orders/42");
}

TEST(lock_name_test, takes_1_to_255_bytes_however_many_characters_they_are) {
  EXPECT_NO_THROW(lock_name{"x"});
  EXPECT_NO_THROW(lock_name{std::string(255, 'x')});
  EXPECT_TRUE(throws(errc::invalid_name, [] { lock_name{""}; }));
  EXPECT_TRUE(throws(errc::invalid_name, [] { lock_name{std::string(256, 'x')}; }));
  EXPECT_TRUE(throws(errc::invalid_name, [] { lock_name{std::string(100'000, 'x')}; }));
  EXPECT_TRUE(throws(errc::invalid_name, [] { lock_name{std::string_view{}}; }));
  std::string padlocks;
  for (int i = 0; i < 63; ++i) padlocks += "\xf0\x9f\x94\x92";
  EXPECT_NO_THROW(lock_name{padlocks + "xxx"});
  EXPECT_TRUE(throws(errc::invalid_name, [&] { lock_name{padlocks + "xxxx"}; }));
}

TEST(lock_name_test, takes_utf8_without_nul_and_nothing_else) {
  for (const auto* text : {"\x01", "\x7f", "\xc2\x80", "\xf4\x8f\xbf\xbf", " ", "\n", "\xef\xbb\xbf"})
    EXPECT_NO_THROW(lock_name{text}) << text;
  for (const auto& text : {"\x80"s, "\xc0\x80"s, "good\xffgood"s, "\xc3\xa9t\xe9"s, std::string(254, 'x') + "\xc3",
                           "\0"s, "a\0b"s, "a\0"s})
    EXPECT_TRUE(throws(errc::invalid_name, [&] { lock_name{text}; })) << text;
}

TEST(lock_name_test, says_the_rule_and_the_input_in_words_that_can_be_printed) {
  EXPECT_TRUE(mentions(error_of([] { return lock_name{""}; }), "255"));
  EXPECT_TRUE(mentions(error_of([] { return lock_name{std::string(256, 'x')}; }), "255"));
  EXPECT_TRUE(mentions(error_of([] { return lock_name{"\xff"}; }), "UTF-8"));
  EXPECT_TRUE(mentions(error_of([] { return lock_name{"a\0b"s}; }), "NUL"));
  const auto e = error_of([] { return lock_name{std::string(300, 'q')}; });
  EXPECT_TRUE(mentions(e, "300") || mentions(e, "qqqq")) << e->what();
  const std::string broken{error_of([] { return lock_name{"ord\xff\x1b[31m"}; })->what()};
  EXPECT_EQ(broken.find('\xff'), std::string::npos) << "what() goes to logs";
  EXPECT_EQ(broken.find('\x1b'), std::string::npos);
}

TEST(lock_name_test, compares_bytes) {
  EXPECT_EQ(lock_name{"a"}, lock_name{"a"});
  EXPECT_NE(lock_name{"a"}, lock_name{"A"});
  EXPECT_NE(lock_name{"a"}, lock_name{"a "});
  EXPECT_NE(lock_name{"\xc3\xa9"}, lock_name{"e\xcc\x81"});
  EXPECT_LT(lock_name{"B"}, lock_name{"a"});
  EXPECT_LT(lock_name{"a"}, lock_name{"aa"});
  EXPECT_LT(lock_name{"z"}, lock_name{"\xc3\xa9"});
}

TEST(lock_name_test, can_be_a_key) {
  std::unordered_set<lock_name> all{"a", "A", "a"};
  EXPECT_EQ(all.size(), 2U);
  EXPECT_TRUE(all.contains("a"));
  EXPECT_FALSE(all.contains("b"));
}

}  // namespace
}  // namespace rowlock::test
