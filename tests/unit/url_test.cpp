#include "core/url.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <string_view>

namespace {

using namespace std::string_view_literals;
using rowlock::core::cut_url;

TEST(cut_url, cuts_scheme_body_and_options) {
  const auto url = cut_url("mysql://u:p@h/db?ssl-mode=required&x=1");
  EXPECT_EQ(url.scheme, "mysql");
  EXPECT_EQ(url.body, "//u:p@h/db");
  EXPECT_EQ(url.options, "ssl-mode=required&x=1");
}

TEST(cut_url, options_may_be_absent) {
  EXPECT_EQ(cut_url("sqlite:a/b.db").body, "a/b.db");
  EXPECT_EQ(cut_url("sqlite:a/b.db").options, "");
}

TEST(cut_url, refuses_what_has_no_scheme_and_does_not_repeat_it) {
  for (const auto text : {""sv, "locks.db"sv, ":x"sv, "SQL ite:x"sv, "/a:b"sv, "user:secret@host"sv.substr(4)}) {
    try {
      cut_url(text);
      ADD_FAILURE() << text;
    } catch (const rowlock::error& e) {
      EXPECT_EQ(e.code(), rowlock::errc::invalid_url);
      EXPECT_EQ(std::string_view{e.what()}.find("secret"), std::string_view::npos);
    }
  }
}

TEST(cut_url, refuses_nul_and_broken_utf8) {
  for (const auto text : {"sqlite:a\0b"sv, "sqlite:a\xFF"sv}) EXPECT_THROW(cut_url(text), rowlock::error);
}

TEST(first_option, names_the_option_and_not_its_value) {
  using rowlock::core::first_option;
  EXPECT_EQ(first_option(cut_url("sqlite:x?password=secret&y=1")), ", such as \"password\"");
  EXPECT_EQ(first_option(cut_url("sqlite:x?secret")), "");
  EXPECT_EQ(first_option(cut_url("sqlite:x?\x1b[2J=1")), ", such as \"\\x1b[2J\"") << "no terminal obeys it";
  EXPECT_EQ(first_option(cut_url("sqlite:x?=secret")), "");
}

}  // namespace
