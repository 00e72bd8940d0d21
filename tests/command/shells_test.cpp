#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "command/watched_terminal.hpp"

// What zsh and fish offer, asked of them themselves. Bash: transcripts/completion.txt.

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class command_shells : public command {
 protected:
  static bool has(const std::string& shell) {
    return finish({.words = {"sh", "-c", "command -v \"$0\"", shell}}).end == exited(0);
  }
  static std::string folder_of_command() { return std::filesystem::path{path()}.parent_path().string(); }
  held_lock hold(const std::string& name) { return locks_.acquire(name, {.lease = 1h}); }
};

// --- fish
// -------------------------------------------------------------------------------------------------------------

class command_in_fish : public command_shells {
 protected:
  void SetUp() override {
    if (!has("fish")) GTEST_SKIP() << "there is no fish here";
  }

  /// What begins with the last word, without what it says of each: fish 4 adds what is only alike.
  std::vector<std::string> offers(const std::string& line) { return offers(line, database_.url()); }
  std::vector<std::string> offers(const std::string& line, const std::string& database) {
    const auto result = finish(
        {.words = {"fish", "--no-config", "-c",
                   "set -p PATH $argv[1]; rowlock help --completion fish | source; or exit 9; complete -C $argv[2]",
                   folder_of_command(), line},
         .environment = {"ROWLOCK_DATABASE=" + database, "ROWLOCK_DATABASE_FILE", "HOME=" + file("home").string(),
                         "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LC_ALL=C.UTF-8"}});
    EXPECT_THAT(result.err, IsEmpty());
    std::vector<std::string> out;
    std::istringstream lines{result.out};
    for (std::string each; std::getline(lines, each);) out.push_back(each.substr(0, each.find('\t')));
    std::erase_if(out,
                  [begun = line.substr(line.rfind(' ') + 1)](const auto& each) { return !each.starts_with(begun); });
    return out;
  }
  /// The same of names, until they are these: on a busy machine the database may be too slow for a shell.
  bool offers_name(const std::string& line, const std::string& name) {
    return offers_name(line, name, database_.url());
  }
  bool offers_name(const std::string& line, const std::string& name, const std::string& database) {
    return eventually([&] { return offers(line, database) == std::vector{name}; });
  }
};

TEST_F(command_in_fish, has_subcommands_options_and_values) {
  EXPECT_THAT(offers("rowlock "),
              UnorderedElementsAre("run", "hold", "lead", "migrate", "sweep", "list", "show", "history", "waiters",
                                   "release", "top", "check", "metrics", "guard", "sql", "help"));
  EXPECT_THAT(offers("rowlock --table-prefix show wai"), ElementsAre("waiters")) << "a value is no subcommand";
  EXPECT_THAT(offers("rowlock help w"), ElementsAre("waiters"));
  EXPECT_THAT(offers("rowlock run --le"), ElementsAre("--lease"));
  EXPECT_THAT(offers("rowlock list --f"), IsEmpty());
  EXPECT_THAT(offers("rowlock run --strategy "), UnorderedElementsAre("unique_index", "for_update", "version_cas"));
  EXPECT_THAT(offers("rowlock run --strategy=for"), ElementsAre("--strategy=for_update"));
  EXPECT_THAT(offers("rowlock help --completion "), UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(offers("rowlock top --sort q"), ElementsAre("queue"));
  EXPECT_THAT(offers("rowlock run --wait "), IsEmpty());
}

TEST_F(command_in_fish, has_the_names_of_locks) {
  const auto one = hold("orders/1");
  const auto two = hold("two words");
  const auto odd = hold("$(touch " + file("ran").string() + ")");
  for (const auto* line : {"rowlock show ord", "rowlock waiters ord", "rowlock release --force ord"})
    EXPECT_TRUE(offers_name(line, "orders/1")) << line;
  EXPECT_TRUE(offers_name("rowlock show tw", "two words"));
  EXPECT_TRUE(offers_name("rowlock --database " + database_.url() + " show ord", "orders/1", "nonsense"));
  EXPECT_THAT(offers("rowlock show orders/1 "), IsEmpty());
  EXPECT_TRUE(offers_name("rowlock show -- ord", "orders/1"));
  EXPECT_THAT(offers("rowlock show ", "nonsense"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(command_in_fish, has_files_and_commands) {
  const auto text = file("locks.db").string();
  ASSERT_EQ(finish({.words = {"touch", text}}).end, exited(0));
  const auto begin = file("loc").string();
  EXPECT_THAT(offers("rowlock --database sqlite:" + begin), ElementsAre("sqlite:" + text));
  EXPECT_THAT(offers("rowlock show --database=sqlite:" + begin), ElementsAre("--database=sqlite:" + text));
  EXPECT_THAT(offers("rowlock --database "), UnorderedElementsAre("sqlite:", "postgresql://", "mysql://"));
  EXPECT_THAT(offers("rowlock metrics --output " + begin), ElementsAre(text));
  for (const auto* line : {"rowlock run job ech", "rowlock run --wait 5 job -- ech", "rowlock run -- -job ech",
                           "rowlock run -- -job -- ech"})
    EXPECT_THAT(offers(line), AllOf(Contains("echo"), Each(StartsWith("ech")))) << line;
  EXPECT_THAT(offers("rowlock run job -- cat " + begin), ElementsAre(text));
  EXPECT_THAT(offers("rowlock run job -- cat --wa"), Not(Contains("--wait"))) << "they are the command's own";
}

// --- zsh
// --------------------------------------------------------------------------------------------------------------

class command_in_zsh : public command_shells {
 protected:
  void SetUp() override {
    if (!has("zsh")) GTEST_SKIP() << "there is no zsh here";
    at_.emplace(
        words{"env", "PATH=" + folder_of_command() + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color",
              "LC_ALL=C.UTF-8", "HOME=" + file("").string(), "ROWLOCK_DATABASE=" + database_.url(), "zsh", "-f", "-i"},
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
