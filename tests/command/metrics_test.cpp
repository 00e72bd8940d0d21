#include <gmock/gmock.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "command/command.hpp"

// What monitoring reads: metrics, their file, and the findings of check.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

class command_metrics : public command {
 protected:
  outcome metrics(const words& arguments) const { return finish(rowlock(words{"metrics"} + arguments)); }

  outcome without_database(const words& arguments) const {
    return finish(
        {.words = words{path(), "--database", "sqlite:" + file("no-such-folder/locks.db").string()} + arguments});
  }

  /// What is beside the files of the test.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder_.path()}, fs::directory_iterator{}));
  }

  const std::string output_ = file("rowlock.prom").string();
};

TEST_F(command_metrics, are_the_same_in_a_file) {
  const auto held = locks_.acquire("job");
  const auto result = metrics({"--output", output_});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out + result.err, IsEmpty());
  EXPECT_THAT(contents_of(output_), AllOf(StartsWith("# TYPE rowlock_"), EndsWith("\n# EOF\n")));
  EXPECT_EQ(files(), 1U) << "nothing is left beside it";
  metrics({"--output", output_, "--json"});
  EXPECT_EQ(json::parse(contents_of(output_), nullptr, false).at("held"), 1);
}

TEST_F(command_metrics, may_be_read_as_the_umask_says) {
  for (const auto& [mask, mode] : {std::pair{0022U, 0644U}, std::pair{0U, 0644U}, std::pair{0077U, 0600U}}) {
    auto how = rowlock({"metrics", "--output", output_});
    how.before_exec = [mask = mask] { ::umask(mask); };
    EXPECT_EQ(finish(how).end, exited(0));
    struct stat found {};
    ASSERT_EQ(::stat(output_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, mode);
  }
}

TEST_F(command_metrics, are_never_read_by_halves) {
  ASSERT_EQ(metrics({"--output", output_}).end, exited(0));
  auto how = rowlock({});
  how.words = words{"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do \"$@\" || exit; done", "sh"} +
              rowlock({"metrics", "--output", output_}).words;
  program writer{how};
  while (!writer.has_ended()) {
    const auto text = contents_of(output_);
    ASSERT_THAT(text, AllOf(StartsWith("# TYPE rowlock_"), EndsWith("\n# EOF\n")));
  }
  EXPECT_EQ(writer.wait(), exited(0)) << writer.err();
}

TEST_F(command_metrics, replace_what_a_link_leads_to) {
  const auto target = file("target").string();
  std::ofstream{target} << "old";
  fs::create_symlink(target, output_);
  EXPECT_EQ(metrics({"--output", output_}).end, exited(0));
  EXPECT_TRUE(fs::is_symlink(output_));
  EXPECT_THAT(contents_of(target), EndsWith("# EOF\n"));
}

TEST_F(command_metrics, that_cannot_be_written_leave_nothing_behind) {
  std::ofstream{output_} << "old";
  auto how = rowlock({"metrics", "--output", output_});
  how.words = words{"sh",
                    "-c",
                    "trap '' XFSZ; ulimit -f 0; exec \"$@\"",
                    "sh",
                    path(),
                    "--database",
                    "sqlite::memory:",
                    "metrics",
                    "--output",
                    output_};
  const auto result = finish(how);
  EXPECT_EQ(result.end, exited(74)) << result;
  EXPECT_EQ(contents_of(output_), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(command_metrics, go_only_where_a_file_can_be) {
  ASSERT_EQ(finish({.words = {"mkfifo", file("pipe").string()}}).end, exited(0));
  for (const auto& place : {file("no-such-folder/x").string(), folder_.path().string(), file("pipe").string()})
    EXPECT_TRUE(refused(metrics({"--output", place}), 74)) << place;
  EXPECT_EQ(files(), 1U);
}

TEST_F(command_metrics, tell_where_there_is_no_database) {
  const auto result = without_database({"metrics"});
  EXPECT_EQ(result.end, exited(69)) << result;
  EXPECT_EQ(occurrences(result.out, "\nrowlock_database_up 0\n"), 1) << result.out;
  EXPECT_THAT(result.out, AllOf(StartsWith("# TYPE rowlock_database_up gauge\n"), EndsWith("\n# EOF\n")));
  EXPECT_TRUE(is_messages(result.err));
  std::ofstream{output_} << "rowlock_database_up 1\n";
  EXPECT_TRUE(refused(without_database({"metrics", "--output", output_}), 69));
  EXPECT_EQ(contents_of(output_), result.out);
  const auto object = json::parse(without_database({"metrics", "--json"}).out, nullptr, false);
  EXPECT_EQ(object.at("up"), false);
  EXPECT_EQ(object.at("held"), nullptr);
}

TEST_F(command_metrics, of_a_wrong_url_are_not_written) {
  EXPECT_TRUE(refused(finish({.words = {path(), "--database", "nonsense:", "metrics", "--output", output_}}), 64));
  EXPECT_FALSE(fs::exists(output_));
}

using command_check = command_metrics;

TEST_F(command_check, goes_on_to_name_what_was_not_looked_at) {
  const auto result = without_database({"check"});
  EXPECT_EQ(result.end, exited(69));
  EXPECT_THAT(result.out, StartsWith("connection    failed   "));
  EXPECT_EQ(occurrences(result.out, "unknown  not checked\n"), 5) << result.out;
  const auto findings = json::parse(without_database({"check", "--json"}).out, nullptr, false);
  ASSERT_EQ(findings.size(), 6U);
  EXPECT_EQ(findings[0].at("condition"), "failed");
  EXPECT_EQ(findings[5].at("condition"), "unknown");
}

TEST_F(command_check, is_64_where_the_url_is_wrong) {
  EXPECT_TRUE(refused(finish({.words = {path(), "--database", "nonsense:", "check"}}), 64));
}

}  // namespace
}  // namespace rowlock::test
