#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class command_manual : public command {
 protected:
  static std::string help(const words& arguments) {
    const auto result = finish(
        {.words = words{path(), "help"} + arguments, .environment = {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE"}});
    EXPECT_EQ(result.end, exited(0)) << result;
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }

  /// What a page looks like, without bold and italics.
  static outcome formatted(const std::string& page) {
    return finish({.words = {"sh", "-c", "groff -man -ww -Tascii -P-cbou -rLL=200n"}, .input = page});
  }

  static bool has_groff() { return finish({.words = {"sh", "-c", "command -v groff"}}).end == exited(0); }

  static std::string words_of(const std::string& text) {
    std::string out;
    std::istringstream in{text};
    for (std::string word; in >> word;) out += word + ' ';
    return out;
  }

  const words subcommands_{"run",     "hold",    "lead", "migrate", "sweep",   "list",  "show", "history",
                           "waiters", "release", "top",  "check",   "metrics", "guard", "sql",  "help"};
};

TEST_F(command_manual, is_the_help_of_each_subcommand) {
  EXPECT_EQ(help({}), finish({.words = {path(), "--help"}}).out);
  for (const auto& each : subcommands_) EXPECT_EQ(help({each}), finish({.words = {path(), each, "--help"}}).out);
}

TEST_F(command_manual, names_every_subcommand_and_has_a_page_for_each) {
  for (const auto& each : subcommands_) {
    EXPECT_THAT(help({}), HasSubstr("\n       " + each + " "));
    EXPECT_THAT(help({"--man"}), HasSubstr("rowlock\\-" + each + "(1)"));
    EXPECT_THAT(help({each}), StartsWith("NAME\n       rowlock-" + each + " - "));
    EXPECT_THAT(help({each, "--man"}), StartsWith(".TH ROWLOCK\\-"));
    for (const auto* section : {"SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"})
      EXPECT_THAT(help({each}), HasSubstr("\n" + std::string{section} + "\n")) << each;
  }
}

TEST_F(command_manual, tells_a_beginner_how_to_guard_a_job_and_to_free_a_lock) {
  for (const auto* line : {"rowlock migrate\n", "rowlock run nightly --every 1d ", "rowlock show nightly\n",
                           "rowlock waiters nightly\n", "rowlock top\n", "rowlock release --force nightly\n"})
    EXPECT_THAT(help({}), HasSubstr(line));
}

TEST_F(command_manual, is_plain_text_that_fits_a_terminal) {
  std::string all = help({});
  for (const auto& each : subcommands_) all += help({each});
  std::istringstream lines{all};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
  for (const char c : all) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
}

TEST_F(command_manual, for_man_says_the_same_and_has_no_errors) {
  if (!has_groff()) GTEST_SKIP() << "there is no groff here";
  for (const auto& arguments :
       std::vector<words>{{}, {"run"}, {"lead"}, {"migrate"}, {"release"}, {"list"}, {"top"}, {"metrics"}, {"sql"}}) {
    const auto page = formatted(help(arguments + words{"--man"}));
    EXPECT_EQ(page.end, exited(0));
    EXPECT_THAT(page.err, IsEmpty());
    auto text = words_of(page.out);
    const auto same = words_of(help(arguments));
    const auto begin = same.find("SYNOPSIS");
    const auto end = same.find(" SEE ALSO");
    EXPECT_THAT(text, HasSubstr(same.substr(begin, end - begin)));
  }
}

TEST_F(command_manual, has_nothing_else) {
  EXPECT_TRUE(refused(finish({.words = {path(), "help", "nonsense"}}), 64));
  EXPECT_TRUE(refused(finish({.words = {path(), "help", "--completion", "tcsh"}}), 64));
  EXPECT_TRUE(refused(finish({.words = {path(), "help", "--completion"}}), 64));
  EXPECT_TRUE(refused(finish({.words = {path(), "help", "run", "--completion", "bash"}}), 64));
  EXPECT_TRUE(refused(finish({.words = {path(), "help", "--", "true"}}), 64));
}

}  // namespace
}  // namespace rowlock::test
