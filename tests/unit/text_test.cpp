#include "base/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/identity.hpp"

namespace {

namespace base = rowlock::base;
using namespace std::string_view_literals;
using rowlock::base::is_plain_text;
using rowlock::base::is_utf8;
using rowlock::base::percent_decoded;
using rowlock::base::prefix_end;

TEST(printable, leaves_what_people_write) {
  for (const auto text : {""sv, "orders/42"sv, "näher → 🔒 ☾"sv, "\\ \"quoted\""sv, "日本語"sv})
    EXPECT_EQ(rowlock::base::printable(text), text);
}

TEST(printable, escapes_what_terminals_and_readers_obey) {
  EXPECT_EQ(rowlock::base::printable("a\x1b[31m\n\t\r\x7f\0b"sv), R"(a\x1b[31m\n\t\x0d\x7f\x00b)");
  EXPECT_EQ(rowlock::base::printable("\xC2\x9B\xC2\x85"sv), R"(\u009b\u0085)");
  EXPECT_EQ(rowlock::base::printable("\u202egnp.exe\u2028\u200b\u2066\ufeff"sv),
            R"(\u202egnp.exe\u2028\u200b\u2066\ufeff)");
  EXPECT_EQ(rowlock::base::printable("\U000e0041"sv), R"(\U000e0041)");
  EXPECT_EQ(rowlock::base::printable("a\xFF\xC3"sv), R"(a\xff\xc3)");
}

TEST(printable, escapes_in_json_as_json_does) {
  EXPECT_EQ(rowlock::base::printable_json("{\n  \"\u202e\xC2\x9B\x7f\U000e0041☾\": 1\n}\n"sv),
            "{\n  \"\\u202e\\u009b\\u007f\\udb40\\udc41☾\": 1\n}\n");
}

TEST(utf8, takes_what_unicode_calls_well_formed) {
  for (const auto text :
       {""sv, "a"sv, "\x7F"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv, "\xEE\x80\x80"sv,
        "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv, "näher → 🔒"sv})
    EXPECT_TRUE(is_utf8(text)) << text;
}

TEST(utf8, refuses_the_rest) {
  for (const auto text :
       {"\x80"sv, "\xBF"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xC2"sv, "\xE0\x9F\xBF"sv, "\xE2\x82"sv, "\xED\xA0\x80"sv,
        "\xED\xBF\xBF"sv, "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv, "a\xE2(\xA1"sv,
        "\xC2x"sv, "\xE2\x82x"sv, "\xF0\x9F\x94"sv, "\xF8\x88\x80\x80\x80"sv, "\xFE"sv})
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(std::string{text});
}

TEST(utf8, plain_text_has_no_nul) {
  EXPECT_TRUE(is_plain_text("a"));
  EXPECT_FALSE(is_plain_text("a\0b"sv));
}

TEST(prefix_end, is_the_least_text_above_all_with_the_prefix) {
  EXPECT_EQ(prefix_end("orders/"), "orders0");
  EXPECT_EQ(prefix_end("a\x7F"), "a\xC2\x80");
  EXPECT_EQ(prefix_end("\xDF\xBF"), "\xE0\xA0\x80");
  EXPECT_EQ(prefix_end("\xEF\xBF\xBF"), "\xF0\x90\x80\x80");
  EXPECT_EQ(prefix_end("\xED\x9F\xBF"), "\xEE\x80\x80") << "it steps over what is no character";
  EXPECT_EQ(prefix_end("a\xF4\x8F\xBF\xBF"), "b") << "the last of all characters is dropped";
  EXPECT_EQ(prefix_end("\xF4\x8F\xBF\xBF"), std::nullopt);
  EXPECT_EQ(prefix_end(""), std::nullopt);
}

TEST(percent_decoded, replaces_escapes_and_refuses_broken_ones) {
  EXPECT_EQ(percent_decoded("a%20b%3f%3F%25"), "a b??%");
  EXPECT_EQ(percent_decoded(""), "");
  for (const auto text : {"%", "a%2", "%zz", "%2g"}) EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

TEST(owner_test, is_text_whatever_the_host_is_called) {
  const auto owner_on = [](std::string_view host) { return rowlock::engine::identity{"app", host}.owner(); };
  EXPECT_TRUE(owner_on("db1.example").starts_with("app:db1.example:"));
  EXPECT_TRUE(owner_on("caf\xc3\xa9").starts_with("app:caf\xc3\xa9:"));
  const auto odd = owner_on("caf\xe9\xff.1");
  EXPECT_TRUE(odd.starts_with("app:caf??.1:")) << odd;
  EXPECT_TRUE(base::is_plain_text(odd));
}

constexpr std::string_view known[] = {"ssl-mode", "ssl-ca", "ssl-cert", "socket", "x"};

std::string suggestion(std::string_view word) { return rowlock::base::did_you_mean(word, known); }

TEST(did_you_mean, finds_the_nearest_word_and_is_silent_about_others) {
  EXPECT_EQ(suggestion("ssl-mod"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("ssl-moed"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("sslmode"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("SSL_MODE"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("sockett"), "; did you mean socket?");
  EXPECT_EQ(suggestion("ssl-cer"), "; did you mean ssl-cert?");
  for (const auto* word : {"", "y", "charset", "password", "timeout"}) EXPECT_EQ(suggestion(word), "") << word;
  EXPECT_EQ(suggestion(std::string(10'000, 's')), "");
}

}  // namespace
