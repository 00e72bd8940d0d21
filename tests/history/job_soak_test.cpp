#include <gtest/gtest.h>
#include <poll.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "history/job_history.hpp"
#include "history/job_hosts.hpp"
#include "server/servers.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/seed.hpp"
#include "support/server_database.hpp"
#include "support/tier.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

// Timers fire on many hosts, whose clocks differ, while runners are killed, stopped and fail; then a program judges
// what they have done.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct size_of_crew {
  int processes = 0;
  int hosts_of_each = 0;
  int jobs = 0;
  int each_of = 1;  ///< Each job is in the crontab of every host of so many.

  int hosts() const { return processes * hosts_of_each; }
};

struct tally {
  int kills = 0;
  int pauses = 0;
  int others = 0;
};

class job_round {
 public:
  /// All takes so many times longer.
  job_round(database& db, const size_of_crew& size, int pace) : db_{db}, size_{size} {
    ::setenv(pace_of_jobs, std::to_string(pace).c_str(), 1);
    std::filesystem::create_directory(folder_ / "records");
    connect_patiently(db_.url()).migrate();
    for (int i = 0; i < size_.processes; ++i) all_.push_back(start(i));
  }

  /// Of the runs that begin, one in five loses its process, and one in five has it stopped for longer than its lease.
  /// And once in each period it does something else. It goes on until each of these has happened.
  void play(std::chrono::seconds time, const std::function<void(std::mt19937&)>& other) {
    for (auto& each : all_) expect_going(*each);
    const auto end = clock::now() + time * slower();
    auto next_other = clock::now() + job_period();
    const auto is_missing = [&] { return told_.kills == 0 || told_.pauses == 0 || (other && told_.others == 0); };
    while (clock::now() < end || (is_missing() && clock::now() < end + patience)) {
      listen();
      while (!due_.empty() && due_.front().at <= clock::now()) {
        const auto one = due_.front();
        due_.pop_front();
        carry_out(one);
      }
      if (other && clock::now() >= next_other) {
        other(random_);
        ++told_.others;
        next_other = clock::now() + job_period();
      }
    }
    for (auto& each : all_) each->resume();
  }

  /// Lets the hosts end, and judges what they have done.
  verdict_of_jobs end() {
    std::ofstream{folder_ / "enough"}.flush();
    for (auto& each : all_) EXPECT_EQ(each->wait(), 0);
    auto history = read_job_records(folder_ / "records");
    EXPECT_TRUE(eventually([&] { return succeeds([&] { return (history.runs = db_.runs(), true); }); }));
    auto out = judge_jobs(history, rules_of_jobs());
    for (const auto& each : out.violations) ADD_FAILURE() << each;
    print(out);
    return out;
  }

 private:
  enum class deed : char { kill, pause, resume };
  struct plan {
    clock::time_point at;
    std::size_t whom;
    deed what;
  };

  std::unique_ptr<child_process> start(int which) {
    const auto first = which * size_.hosts_of_each;
    return std::make_unique<child_process>(
        "job_hosts", std::vector{db_.url(), folder_.path().string(), std::to_string(random_()), std::to_string(first),
                                 std::to_string(first + size_.hosts_of_each), std::to_string(size_.hosts()),
                                 std::to_string(size_.jobs), std::to_string(size_.each_of)});
  }
  static void expect_going(child_process& one) {
    while (one.read_line(4 * patience) != "going") {  // other processes may keep the machine busy
    }
  }

  /// Hears of runs that begin, for a moment.
  void listen() {
    std::vector<pollfd> ready;
    for (const auto& each : all_) ready.push_back({.fd = each->output(), .events = POLLIN, .revents = 0});
    ::poll(ready.data(), ready.size(), 5);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (ready[i].revents != 0 && !all_[i]->read_some()) throw std::runtime_error{"hosts have ended"};
      while (const auto line = all_[i]->next_line())
        if (*line == "works") run_begins(i);
    }
  }

  void run_begins(std::size_t which) {
    const auto soon = clock::now() + std::chrono::milliseconds{random_() % 150} * slower();
    const auto chosen = random_() % 5;
    if (chosen == 0) add({soon, which, deed::kill});
    if (chosen != 1) return;
    add({soon, which, deed::pause});
    add({soon + job_lease() + std::chrono::milliseconds{random_() % 400} * slower(), which, deed::resume});
  }
  void add(const plan& one) { due_.insert(std::ranges::upper_bound(due_, one.at, {}, &plan::at), one); }

  void carry_out(const plan& one) {
    auto& whom = all_.at(one.whom);
    switch (one.what) {
      case deed::kill:
        ++told_.kills;
        whom->kill();
        whom = start(static_cast<int>(one.whom));
        break;
      case deed::pause:
        ++told_.pauses;
        whom->pause();
        break;
      case deed::resume:
        whom->resume();
    }
  }

  void print(const verdict_of_jobs& v) const {
    std::cout << v.periods << " periods of " << size_.jobs << " jobs on " << size_.hosts() / size_.each_of << " of "
              << size_.hosts() << " hosts: " << v.successes << " successes, in " << v.used_up
              << " all runs were used up; " << v.served << " periods are judged for a missing success; " << v.runs
              << " runs, " << v.lost << " of them lost, " << v.unrecorded
              << " had done their work and were not recorded;";
    for (const auto& [what, number] : v.answers) std::cout << ' ' << number << ' ' << what;
    std::cout << "; " << told_.kills << " kills, " << told_.pauses << " pauses, " << told_.others
              << " other faults; seed " << seed() << '\n';
  }

  database& db_;
  const size_of_crew size_;
  const temp_folder folder_;
  std::mt19937 random_{seed()};
  std::vector<std::unique_ptr<child_process>> all_;
  std::deque<plan> due_;
  tally told_{};
};

/// How long a test plays: its part of a soak.
std::chrono::seconds time_to_play() {
  const auto part = soak_time() / testing::UnitTest::GetInstance()->test_to_run_count();
  return is_soak() ? std::max<std::chrono::seconds>(part, 10s) : std::chrono::seconds{many(60, 5)};
}
/// Whether all that may happen to runs happens in that time.
bool is_long() { return time_to_play() >= 30s; }
size_of_crew hundred_hosts() { return {.processes = 10, .hosts_of_each = 10, .jobs = 10, .each_of = 5}; }
size_of_crew some_hosts() { return {.processes = 5, .hosts_of_each = 6, .jobs = 2}; }

/// Of a server.
void end_some_sessions(database& db, std::mt19937& random) {
  auto* const server = dynamic_cast<server_database*>(&db);
  if (server == nullptr) return;
  auto all = server->sessions();
  std::ranges::shuffle(all, random);
  all.resize(std::min<std::size_t>(all.size(), 3));
  server->terminate_sessions(all);
}

/// Whether the history had what it was to be about.
testing::AssertionResult has_all_kinds(const verdict_of_jobs& v) {
  if (v.successes == 0) return testing::AssertionFailure() << "no run has succeeded";
  if (!is_long()) return testing::AssertionSuccess();
  if (v.served == 0 || 2 * v.successes <= v.periods)
    return testing::AssertionFailure() << "most periods are too short for what is done in them";
  if (v.lost == 0 || v.unrecorded == 0) return testing::AssertionFailure() << "no lock was lost, or too early";
  return testing::AssertionSuccess();
}

/// `play(pace)`, with longer periods where the machine is too busy for the shorter ones.
void play_until_it_has_all_kinds(const std::function<verdict_of_jobs(int pace)>& play) {
  constexpr int most = 8;
  auto pace = 1;
  auto found = has_all_kinds(play(pace));
  while (!found && pace < most && !testing::Test::HasFailure()) found = has_all_kinds(play(pace *= 2));
  EXPECT_TRUE(found);
}

class soak_of_jobs : public testing::TestWithParam<database_kind> {};
INSTANTIATE_TEST_SUITE_P(on, soak_of_jobs, testing::ValuesIn(databases()), database_name);

TEST_P(soak_of_jobs, on_many_hosts_whose_runners_are_killed_stopped_and_fail) {
  play_until_it_has_all_kinds([](int pace) {
    const auto db = GetParam().open();
    job_round one{*db, is_long() ? hundred_hosts() : some_hosts(), pace};
    one.play(time_to_play(), [&](std::mt19937& random) { end_some_sessions(*db, random); });
    return one.end();
  });
}

class soak_of_jobs_on_server : public testing::TestWithParam<server_kind> {};
ROWLOCK_SUITE_ON_EACH_SERVER(soak_of_jobs_on_server);

TEST_P(soak_of_jobs_on_server, that_restarts_and_crashes) {
  play_until_it_has_all_kinds([](int pace) {
    const auto server = GetParam().start_one();
    const auto db = server->open();
    job_round one{*db, {.processes = 4, .hosts_of_each = 3, .jobs = 2}, pace};
    one.play(time_to_play(), [&](std::mt19937& random) {
      random() % 2 == 0 ? server->crash() : server->stop();
      server->start();
    });
    return one.end();
  });
}

}  // namespace
}  // namespace rowlock::test
