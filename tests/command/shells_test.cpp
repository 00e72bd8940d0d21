#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "command/command.hpp"
#include "command/watched_terminal.hpp"

// What zsh offers, at a terminal. Bash and fish: transcripts/completion.txt and transcripts/fish.txt.

namespace rowlock::test {
namespace {

class command_in_zsh : public command {
 protected:
  void SetUp() override {
    if (finish({.words = {"sh", "-c", "command -v zsh"}}).end != exited(0)) GTEST_SKIP() << "there is no zsh here";
    const auto folder = std::filesystem::path{path()}.parent_path().string();
    at_.emplace(
        words{"env", "PATH=" + folder + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LC_ALL=C.UTF-8",
              "HOME=" + file("").string(), "ROWLOCK_DATABASE=" + database_.url(), "zsh", "-f", "-i"},
        200, 60);
    at_->at().type(
        "PROMPT='%% '; autoload -Uz compinit && compinit -D -u && source <(rowlock help --completion zsh); "
        "rowlock() { print -rl -- \"<${(@)^argv}>\" }; clear; print rea''dy\n");
    ASSERT_TRUE(at_->shows("\nready") || at_->shows("ready\n"));
  }

  /// Whether the line, once it is completed, has these words behind `rowlock`.
  bool completes(const std::string& line, const words& expected, std::chrono::seconds within = patience) {
    at_->at().type("clear\n");
    at_->at().type(line + "\t\x05\n");  // to the end of the line
    std::string all;
    for (const auto& each : expected) all += "\n<" + each + ">";
    return shows(all + "\n%", within);
  }
  /// Whether it offers all of these.
  bool lists(const std::string& line, const words& expected, std::chrono::seconds within = patience) {
    at_->at().type("clear\n");
    at_->at().type(line + "\t\t");
    bool out = true;
    for (const auto& each : expected) out = out && shows(each, within);
    at_->at().type("\x03");
    return out;
  }
  bool shows(const std::string& text, std::chrono::seconds within) {
    return eventually(within, [&] { return screen().find(text) != std::string::npos; });
  }
  // On a busy machine the database may be too slow for a shell.
  bool completes_name(const std::string& line, const words& expected) {
    return eventually([&] { return completes(line, expected, patience / 10); });
  }
  bool lists_names(const std::string& line, const words& expected) {
    return eventually([&] { return lists(line, expected, patience / 10); });
  }
  std::string screen() { return at_->screen().text(); }
  held_lock hold(const std::string& name) { return locks_.acquire(name, {.lease = 1h}); }

  std::optional<watched_terminal> at_;
};

TEST_F(command_in_zsh, has_subcommands_options_and_values) {
  EXPECT_TRUE(completes("rowlock wai", {"waiters"})) << screen();
  EXPECT_TRUE(completes("rowlock --table-prefix show wai", {"--table-prefix", "show", "waiters"})) << screen();
  EXPECT_TRUE(completes("rowlock help wai", {"help", "waiters"})) << screen();
  EXPECT_TRUE(completes("rowlock release job --fo", {"release", "job", "--force"})) << screen();
  EXPECT_TRUE(completes("rowlock run --strategy for", {"run", "--strategy", "for_update"})) << screen();
  EXPECT_TRUE(completes("rowlock help --completion fi", {"help", "--completion", "fish"})) << screen();
  EXPECT_TRUE(completes("rowlock top --sort qu", {"top", "--sort", "queue"})) << screen();
  EXPECT_TRUE(lists("rowlock ", {"run ", "lead ", "migrate ", "sweep ", "list ", "show ", "waiters ", "release ",
                                 "top ", "check ", "metrics ", "help ", "on a live screen"}))
      << screen();
}

TEST_F(command_in_zsh, has_the_names_of_locks) {
  const auto one = hold("orders/1");
  const auto two = hold("two words");
  const auto odd = hold("$(touch " + file("ran").string() + ")");
  EXPECT_TRUE(completes_name("rowlock show ord", {"show", "orders/1"})) << screen();
  EXPECT_TRUE(completes_name("rowlock waiters --json ord", {"waiters", "--json", "orders/1"})) << screen();
  EXPECT_TRUE(completes_name("rowlock show tw", {"show", "two words"})) << screen();
  EXPECT_TRUE(completes_name("rowlock --database " + database_.url() + " show ord",
                             {"--database", database_.url(), "show", "orders/1"}))
      << screen();
  EXPECT_TRUE(lists_names("rowlock show ", {"orders/1", "two words"})) << screen();
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(command_in_zsh, has_files_and_commands) {
  const auto text = file("locks.db").string();
  ASSERT_EQ(finish({.words = {"touch", text}}).end, exited(0));
  const auto begin = file("loc").string();
  EXPECT_TRUE(completes("rowlock --database sqlite:" + begin, {"--database", "sqlite:" + text})) << screen();
  EXPECT_TRUE(completes("rowlock list --database=sqlite:" + begin, {"list", "--database=sqlite:" + text})) << screen();
  EXPECT_TRUE(completes("rowlock --database sql", {"--database", "sqlite:"})) << screen();
  EXPECT_TRUE(completes("rowlock metrics --output " + begin, {"metrics", "--output", text})) << screen();
  EXPECT_TRUE(completes("rowlock run job mkfif", {"run", "job", "mkfifo"})) << screen();
  EXPECT_TRUE(completes("rowlock lead job mkfif", {"lead", "job", "mkfifo"})) << screen();
  EXPECT_TRUE(completes("rowlock run job -- mkfif", {"run", "job", "--", "mkfifo"})) << screen();
  EXPECT_TRUE(completes("rowlock run job -- cat " + begin, {"run", "job", "--", "cat", text})) << screen();
}

}  // namespace
}  // namespace rowlock::test
