#include <gtest/gtest.h>
#include <signal.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "history/job_history.hpp"
#include "support/databases.hpp"
#include "support/slowness.hpp"

// The same crontab on three hosts, whose clocks differ.

namespace rowlock::test {
namespace {

constexpr int retries = 3;

/// host FOLDER NAME AHEAD ROWLOCK…: its timer fires at the beginning of each period by its own clock, until "enough" is
/// in the folder. What becomes of that is in the folder "records", as job_record writes it, in microseconds of the
/// clock that all hosts share.
constexpr auto* host = R"sh(
folder=$1 name=$2 ahead=$3 period=$4 && shift 4
really() { date=$(env -u LD_PRELOAD date +%s%N) && echo "${date%???}"; }
while [ ! -e "$folder/enough" ]; do
  left=$((period - ($(date +%s%N) + ahead) % period))
  sleep "$((left / 1000000000)).$(printf %09d "$((left % 1000000000))")"
  begin=$(really)
  "$@" &
  echo $! >"$folder/pid.$name"
  wait $!
  status=$?
  case $status in 0 | 75) patient=1 ;; *) patient=0 ;; esac
  echo "A nightly 0 exit$status $patient $begin $(really) ." >>"$folder/records/$name"
done
)sh";

/// The job. It takes as long as "hold" is in the folder.
constexpr auto* nightly = R"sh(
echo "W nightly $ROWLOCK_TOKEN ." >>"$1/records/$2"
echo "$2" >>"$1/began"
while [ -e "$1/hold" ]; do sleep 0.02; done
sleep 0.05
echo "D nightly $ROWLOCK_TOKEN ." >>"$1/records/$2"
)sh";

class crontab : public on_each_database {
 protected:
  crontab() {
    client::connect(db().url(), {.observer = silent()}).migrate();
    std::filesystem::create_directory(folder_ / "records");
    const auto begin = std::chrono::steady_clock::now();
    command::finish({.words = rowlock({"history", "nightly"})});
    const auto one_command = std::chrono::steady_clock::now() - begin;
    period_ = std::max(period_, std::chrono::ceil<std::chrono::seconds>(20 * one_command));
  }

  words rowlock(const words& arguments) const { return words{command::path(), "--database", db().url()} + arguments; }

  /// A host whose clock is ahead by that time. The time in an SQLite file is that of its host, which all processes
  /// have; and what is preloaded into a sanitized program ends it.
  std::unique_ptr<program> start_host(const std::string& name, std::chrono::milliseconds ahead) const {
    const bool is_faked = GetParam().name != "sqlite" && !is_sanitized;
    const auto nanoseconds = [](std::chrono::nanoseconds t) { return std::to_string(t.count()); };
    words all;
    if (is_faked)
      all = {"faketime", "--exclude-monotonic", "-f",
             (ahead < 0ms ? "" : "+") + std::to_string(static_cast<double>(ahead.count()) / 1000)};
    const auto place = folder_.path().string();
    all = all +
          words{"sh", "-c", host, "host", place, name, nanoseconds(is_faked ? 0ms : ahead), nanoseconds(period_)} +
          rowlock({"run", "nightly", "--every", std::to_string(period_.count()) + "s", "--retries",
                   std::to_string(retries), "--lease", std::to_string(300 * period_.count()) + "ms", "--quiet", "--",
                   "sh", "-c", nightly, "nightly", place, name});
    return std::make_unique<program>(launch{.words = all});
  }

  std::size_t successes() {
    const auto all = db().runs();
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const run_row& r) { return r.result == "succeeded"; }));
  }
  /// Waits until the job has succeeded so many times more.
  bool succeeds_again(std::size_t times) {
    const auto before = successes();
    return happens([&] { return successes() >= before + times; });
  }
  bool happens(const std::function<bool()>& what) const { return eventually(patience * slowness + 4 * period_, what); }
  verdict_of_jobs verdict(const job_history& all) const {
    return judge_jobs(all, {.every = std::chrono::microseconds{period_}.count(), .retries = retries});
  }
  job_history history() {
    auto out = read_job_records(folder_ / "records");
    out.runs = db().runs();
    return out;
  }
  std::string contents(const std::string& file) const { return contents_of(folder_ / file); }
  void touch(const std::string& file) const { std::ofstream{folder_ / file}.flush(); }

  std::chrono::seconds period_{is_sanitized ? 10 : 1};  // or so long that a command has time to end in it
  temp_folder folder_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(crontab);

TEST_P(crontab, of_three_hosts_has_one_success_in_each_period_even_if_a_command_is_killed) {
  std::vector<std::unique_ptr<program>> hosts;
  for (const int tenths : {-2, 0, 2})
    hosts.push_back(start_host("host" + std::to_string(hosts.size()), period_ * tenths / 10));
  ASSERT_TRUE(succeeds_again(2)) << hosts[0]->err() << hosts[1]->err() << hosts[2]->err();

  touch("hold");
  const auto before = contents("began").size();
  ASSERT_TRUE(happens([&] { return contents("began").size() > before + 5; }));
  const auto runner = contents("began").substr(before, 5);
  ::kill(static_cast<pid_t>(std::stol(contents("pid." + runner))), SIGKILL);
  std::filesystem::remove(folder_ / "hold");
  EXPECT_TRUE(succeeds_again(2));
  EXPECT_TRUE(happens([&] { return verdict(history()).served > 0; })) << "a period is judged for a missing success";
  touch("enough");
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    EXPECT_EQ(hosts[i]->wait(), exited(0));
    const bool has_runner = "host" + std::to_string(i) == runner;
    const auto said = hosts[i]->err();
    EXPECT_TRUE(has_runner ? (said.find("rowlock was killed; ending the command") != std::string::npos) : said.empty())
        << said;
  }

  auto all = history();
  const auto judged = verdict(all);
  for (const auto& each : judged.violations) ADD_FAILURE() << each;
  EXPECT_GT(judged.served, 0U);
  EXPECT_EQ(judged.answers.count("exit137"), 1U) << "of the shell that was told of the kill";
  const auto shown = nlohmann::json::parse(command::finish({.words = rowlock({"history", "nightly", "--json"})}).out);
  ASSERT_EQ(shown.size(), all.runs.size());
  std::ranges::reverse(all.runs);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_EQ(shown[i]["token"], all.runs[i].token);
    EXPECT_EQ(shown[i]["attempt"], all.runs[i].attempt);
    EXPECT_EQ(shown[i]["result"], all.runs[i].result.value_or("lost"));
  }
  std::cout << judged.periods << " periods, " << judged.successes << " successes, " << judged.served
            << " judged for a missing one, " << judged.lost << " runs lost\n";
}

}  // namespace
}  // namespace rowlock::test
