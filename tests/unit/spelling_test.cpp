#include "base/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

constexpr std::string_view known[] = {"ssl-mode", "ssl-ca", "ssl-cert", "socket", "x"};

std::string suggestion(std::string_view word) { return rowlock::base::did_you_mean(word, known); }

TEST(did_you_mean, finds_a_typo) {
  EXPECT_EQ(suggestion("ssl-mod"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("ssl-moed"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("sslmode"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("SSL_MODE"), "; did you mean ssl-mode?");
  EXPECT_EQ(suggestion("sockett"), "; did you mean socket?");
}

TEST(did_you_mean, takes_the_nearest) { EXPECT_EQ(suggestion("ssl-cer"), "; did you mean ssl-cert?"); }

TEST(did_you_mean, is_silent_about_other_words) {
  for (const auto* word : {"", "y", "charset", "password", "timeout"}) EXPECT_EQ(suggestion(word), "") << word;
  EXPECT_EQ(suggestion(std::string(10'000, 's')), "");
}

}  // namespace
