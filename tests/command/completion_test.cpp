#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command/command.hpp"

// What bash offers, asked as bash asks: the words of the line in COMP_WORDS, and the answer in COMPREPLY. Below, what
// the shells ask: rowlock __complete.

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

class command_completion : public command {
 protected:
  /// Behind `rowlock`; the last is the one that is completed.
  std::vector<std::string> offers(const words& arguments) const { return offers(arguments, database_.url()); }

  static std::vector<std::string> offers(const words& arguments, const std::string& database) {
    const std::string script =
        "source <(\"$1\" help --completion bash) || exit; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _rowlock; "
        "for each in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$each\"; done";
    const auto result = finish({.words = words{"bash", "-c", script, path(), path()} + arguments,
                                .environment = {"ROWLOCK_DATABASE=" + database, "ROWLOCK_DATABASE_FILE"}});
    EXPECT_EQ(result.end, exited(0)) << result;
    EXPECT_THAT(result.err, IsEmpty());
    std::vector<std::string> out;
    std::istringstream lines{result.out};
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
  }

  /// "-w" and "--wait" of the line "       -w,--wait DURATION".
  static std::vector<std::string> options_on_the_page(const std::string& subcommand) {
    const auto page = finish({.words = {path(), "help", subcommand}, .environment = {"ROWLOCK_DATABASE"}});
    EXPECT_EQ(page.end, exited(0)) << page;
    std::vector<std::string> out;
    std::istringstream lines{page.out};
    bool is_about_options = false;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.front() != ' ') is_about_options = line.find("OPTIONS") != std::string::npos;
      std::istringstream words{line};
      std::string names;
      if (!is_about_options || !line.starts_with("       -") || !(words >> names)) continue;
      std::istringstream each{names};
      for (std::string name; std::getline(each, name, ',');) out.push_back(name);
    }
    return out;
  }

  /// The same of names, until they are these: on a busy machine the database may be too slow for a shell.
  bool offers_names(const words& arguments, std::vector<std::string> names) const {
    return offers_names(arguments, std::move(names), database_.url());
  }
  static bool offers_names(const words& arguments, std::vector<std::string> names, const std::string& database) {
    std::sort(names.begin(), names.end());
    std::vector<std::string> offered;
    return eventually([&] {
             offered = offers(arguments, database);
             std::sort(offered.begin(), offered.end());
             return offered == names;
           }) ||
           (ADD_FAILURE() << testing::PrintToString(offered), false);
  }

  /// As a shell would ask.
  outcome asked(const words& arguments) const {
    return finish({.words = words{path(), "__complete"} + arguments,
                   .environment = {"ROWLOCK_DATABASE=" + database_.url(), "ROWLOCK_DATABASE_FILE"}});
  }

  held_lock hold(const std::string& name) { return locks_.acquire(name, {.lease = 1h}); }
};

TEST_F(command_completion, has_the_subcommands) {
  EXPECT_THAT(offers({""}),
              UnorderedElementsAre("run", "hold", "lead", "migrate", "sweep", "list", "show", "history", "waiters",
                                   "release", "top", "check", "metrics", "guard", "sql", "help"));
  EXPECT_THAT(offers({"s"}), UnorderedElementsAre("sweep", "show", "sql"));
  EXPECT_THAT(offers({"--table-prefix", "mine_", "mi"}), ElementsAre("migrate"));
  EXPECT_THAT(offers({"help", "w"}), ElementsAre("waiters"));
}

TEST_F(command_completion, has_the_options_of_each_subcommand) {
  EXPECT_THAT(offers({"-"}), UnorderedElementsAre("--help", "-h", "--version", "--database", "--table-prefix"));
  EXPECT_THAT(offers({"run", "--"}), IsSupersetOf({"--wait", "--fair", "--strategy", "--database"}));
  EXPECT_THAT(offers({"run", "--l"}), UnorderedElementsAre("--lease", "--lost-exit"));
  EXPECT_THAT(offers({"release", "job", "--f"}), ElementsAre("--force"));
  EXPECT_THAT(offers({"list", "--f"}), IsEmpty());
}

TEST_F(command_completion, has_just_the_options_of_the_manual) {
  for (const auto& each : offers({""})) {
    const auto on_the_page = options_on_the_page(each);
    EXPECT_THAT(on_the_page, Contains("--help")) << each;
    const auto offered = offers({each, "-"});
    EXPECT_THAT((std::set<std::string>{offered.begin(), offered.end()}), UnorderedElementsAreArray(on_the_page))
        << each;
  }
}

TEST_F(command_completion, has_the_values_that_it_knows) {
  EXPECT_THAT(offers({"run", "--strategy", ""}), UnorderedElementsAre("unique_index", "for_update", "version_cas"));
  EXPECT_THAT(offers({"run", "--strategy", "=", "for"}), ElementsAre("for_update")) << "bash parts words there";
  EXPECT_THAT(offers({"run", "--strategy", "="}), Contains("version_cas"));
  EXPECT_THAT(offers({"help", "--completion", ""}), UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(offers({"top", "--sort", "q"}), ElementsAre("queue"));
  EXPECT_THAT(offers({"run", "--wait", ""}), IsEmpty());
}

TEST_F(command_completion, has_the_names_of_locks) {
  const auto one = hold("orders/1");
  const auto two = hold("orders/2");
  const auto other = hold("other");
  for (const auto& arguments : std::vector<words>{{"show"},
                                                  {"waiters"},
                                                  {"release", "--force"},
                                                  {"show", "--json"},
                                                  {"list"},
                                                  {"run", "-w", "5"},
                                                  {"hold", "--also"}})
    EXPECT_TRUE(offers_names(arguments + words{"orders/"}, {"orders/1", "orders/2"}))
        << testing::PrintToString(arguments);
  EXPECT_TRUE(offers_names({"hold", "--also", "=", "ot"}, {"other"}));
  EXPECT_THAT(offers({"show", "orders/1", ""}), IsEmpty()) << "it takes one";
  const auto hyphen = hold("-job");
  EXPECT_TRUE(offers_names({"show", "--", "-"}, {"-job"}));
}

TEST_F(command_completion, has_the_names_of_jobs_that_are_not_held) {
  const auto held = hold("nightly/held");
  for (const auto* job : {"nightly/2", "nightly/1", "weekly"})
    ASSERT_EQ(finish(rowlock({"run", job, "--every", "52w", "--", "true"})).end, exited(0));
  EXPECT_TRUE(offers_names({"history", "nightly/"}, {"nightly/1", "nightly/2"}));
  EXPECT_TRUE(offers_names({"show", "nightly/"}, {"nightly/1", "nightly/2", "nightly/held"}));
  EXPECT_TRUE(offers_names({"waiters", "nightly/"}, {"nightly/held"}));
}

TEST_F(command_completion, has_the_time_zones_of_the_system) {
  EXPECT_THAT(offers({"run", "--timezone", "Europe/Be"}), IsSupersetOf({"Europe/Berlin", "Europe/Belgrade"}));
  EXPECT_THAT(offers({"run", "--timezone", "UT"}), ElementsAre("UTC"));
}

TEST_F(command_completion, quotes_names_and_runs_none_of_them) {
  const auto spaced = hold("two words");
  const auto odd = hold("$(touch " + file("ran").string() + ")");
  const auto parted = hold("rowlock:sweeper");
  const auto broken = hold("two\nlines");
  EXPECT_TRUE(offers_names({"show", "two"}, {"two\\ words"})) << "no name that a shell could not show";
  EXPECT_TRUE(offers_names({"show", "two\\ w"}, {"two\\ words"}));
  EXPECT_TRUE(offers_names({"show", "\"two w"}, {"two words"})) << "behind the quote that is there";
  const auto quoted = hold("it's $(a) `b` \\ \"c\"");
  EXPECT_TRUE(offers_names({"show", "\"it"}, {R"(it's \$(a) \`b\` \\ \"c\")"}));
  EXPECT_TRUE(offers_names({"show", "'it"}, {R"(it'\''s $(a) `b` \ "c")"}));
  EXPECT_TRUE(eventually([&] { return !offers({"show", "$"}).empty(); }));
  EXPECT_THAT(offers({"show", "$"}), Each(StartsWith("\\$\\(touch\\ ")));
  EXPECT_TRUE(offers_names({"show", "rowlock", ":", "sw"}, {"sweeper"})) << "bash parts words there";
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(command_completion, asks_the_database_of_the_command_line) {
  const auto held = hold("job");
  const auto file = database_.file().string();
  EXPECT_TRUE(offers_names({"--database", "sqlite", ":", file, "show", ""}, {"job"}, "nonsense"));
  EXPECT_TRUE(offers_names({"show", "--database", "=", "sqlite", ":", file, ""}, {"job"}, "nonsense"));
  EXPECT_TRUE(offers_names({"show", "--database", "'sqlite", ":", file + "'", ""}, {"job"}, "nonsense"));
}

TEST_F(command_completion, has_the_files_behind_sqlite) {
  const auto begin = file("loc").string();
  ASSERT_EQ(finish({.words = {"touch", file("locks.db").string()}}).end, exited(0));
  EXPECT_THAT(offers({"--database", "sqlite", ":", begin}), ElementsAre(file("locks.db").string()))
      << "bash parts words at the colon, and replaces only what is behind it";
  EXPECT_THAT(offers({"show", "--database", "=", "sqlite", ":", begin}), ElementsAre(file("locks.db").string()));
  EXPECT_THAT(offers({"--database", ""}), UnorderedElementsAre("sqlite:", "postgresql://", "mysql://"));
  EXPECT_THAT(offers({"--database", "sql"}), ElementsAre("sqlite:"));
}

TEST_F(command_completion, is_quiet_where_no_database_answers) {
  EXPECT_THAT(offers({"show", ""}, ""), IsEmpty());
  EXPECT_THAT(offers({"show", ""}, "nonsense"), IsEmpty());
  EXPECT_THAT(offers({"show", ""}, "sqlite:" + file("no-such-folder/locks.db").string()), IsEmpty());
}

TEST_F(command_completion, says_nothing_and_makes_no_file_where_there_are_no_names) {
  for (const auto* url : {"sqlite:locks.db", "nonsense", "postgresql://nobody@127.0.0.1:1/nothing"}) {
    const auto result = finish({.words = {"sh", "-c", "cd \"$1\" && exec \"$0\" __complete --database \"$2\" show ''",
                                          path(), file("").string(), url}});
    EXPECT_EQ(result.end, exited(0)) << result;
    EXPECT_EQ(result.out, "words\n") << url;
    EXPECT_THAT(result.err, IsEmpty()) << url;
  }
  EXPECT_TRUE(std::filesystem::is_empty(file("")));
}

// The file that has the URL is a pipe that nobody writes to, so that the answer never comes.
TEST_F(command_completion, does_not_wait_for_a_database_that_does_not_answer) {
  ASSERT_EQ(finish({.words = {"mkfifo", file("url").string()}}).end, exited(0));
  const launch unanswered{.words = {path(), "__complete", "show", ""},
                          .environment = {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE=" + file("url").string()}};
  const stopwatch watch;
  const auto result = finish(unanswered);
  EXPECT_LT(watch.elapsed(), patience / 3);
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "words\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(command_completion, describes_what_it_offers) {
  EXPECT_THAT(asked({"che"}).out, StartsWith("words\ncheck\tcheck whether "));
  EXPECT_THAT(asked({"list", "--js"}).out, "words\n--json\tPrint JSON, for programs.\n");
  EXPECT_THAT(asked({"--database", "my"}).out, "beginnings\nmysql://\t\n");
  EXPECT_THAT(asked({"metrics", "--output="}).out, "files --output=\n");
  EXPECT_THAT(asked({"run", "job", "--", "x"}).out, "command 4\n");
}

TEST_F(command_completion, has_nothing_to_say_about_what_is_wrong) {
  for (const auto& wrong : std::vector<words>{
           {}, {"nonsense", ""}, {"list", "--nonsense", ""}, {"run", "--wait", "--", ""}, {"list", "--nonsense="}}) {
    const auto result = asked(wrong);
    EXPECT_EQ(result.end, exited(0)) << testing::PrintToString(wrong);
    EXPECT_THAT(result.out, testing::AnyOf("nothing\n", "words\n"));
    EXPECT_THAT(result.err, IsEmpty());
  }
}

TEST_F(command_completion, is_hidden) {
  EXPECT_THAT(finish(rowlock({"--help"})).out, Not(HasSubstr("__complete")));
  EXPECT_THAT(finish(rowlock({"__complet"})).err, Not(HasSubstr("__complete")));
}

TEST_F(command_completion, has_files_behind_output_and_commands_behind_the_dashes) {
  const auto text = file("rowlock.prom").string();
  ASSERT_EQ(finish({.words = {"touch", text}}).end, exited(0));
  EXPECT_THAT(offers({"metrics", "--output", file("row").string()}), ElementsAre(text));
  for (const auto& before : std::vector<words>{{"run", "job", "--"},
                                               {"run", "job"},
                                               {"lead", "job"},
                                               {"lead", "--restart", "job", "--"},
                                               {"run", "-w", "5", "job"}}) {
    EXPECT_THAT(offers(before + words{"ech"}), AllOf(Contains("echo"), Each(StartsWith("ech"))));
    EXPECT_THAT(offers(before + words{"cat", file("row").string()}), ElementsAre(text));
  }
  EXPECT_THAT(offers({"run", "--", "-job", "ech"}), Contains("echo"));
  EXPECT_THAT(offers({"run", "--", "-job", "--", "cat", file("row").string()}), ElementsAre(text));
  EXPECT_THAT(offers({"run", "job", "--", "cat", "--wa"}), Not(Contains("--wait"))) << "they are the command's own";
}

}  // namespace
}  // namespace rowlock::test
