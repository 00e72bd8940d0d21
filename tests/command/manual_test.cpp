#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "command/command.hpp"

// The manual for man. Its text: transcripts/manual.txt.

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
};

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

}  // namespace
}  // namespace rowlock::test
