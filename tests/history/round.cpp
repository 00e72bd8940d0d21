#include "history/round.hpp"

#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "history/checker.hpp"
#include "history/player.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/seed.hpp"
#include "support/slowness.hpp"
#include "support/tier.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

constexpr std::size_t players = 4;
constexpr std::chrono::seconds a_round = 10min;
// Behind its limit: a call to a server that is away takes a second, and one that was paused as long as it was.
constexpr std::int64_t allowed_delay = std::chrono::microseconds{std::chrono::seconds{10}}.count();
unsigned rounds = 0;

// After a server answers again.
constexpr std::chrono::steady_clock::duration recovery = 5s;
constexpr std::uintmax_t some = 1000;  // bytes that are written about ten locks: more than are handed over in memory

/// Of all rounds of this program.
struct tally {
  std::size_t acquisitions = 0;
  std::size_t violations = 0;
  int faults = 0;
  int unfenced_overlaps = 0;
  std::chrono::steady_clock::duration slowest_recovery{};
} total;

class report_of_all final : public testing::Environment {
  void TearDown() override {
    if (total.acquisitions == 0) return;
    std::cout << total.acquisitions << " acquisitions, " << total.violations << " violations (" << total.faults
              << " faults, " << total.unfenced_overlaps << " writes without a fence came late, recovered within "
              << std::chrono::duration_cast<std::chrono::milliseconds>(total.slowest_recovery).count() << " ms; seed "
              << seed() << ")\n";
  }
};
[[maybe_unused]] const auto* const reporting = testing::AddGlobalTestEnvironment(new report_of_all);

/// While a server is away, each connection of a player may have a thread that still waits for its answer.
const auto connecting = static_cast<long>(client_options{}.connections);

/// What a process has, at most, for some time.
struct resources {
  long kibibytes = 0;
  long threads = 0;
  long descriptors = 0;

  void raise_to(const resources& other) {
    kibibytes = std::max(kibibytes, other.kibibytes);
    threads = std::max(threads, other.threads);
    descriptors = std::max(descriptors, other.descriptors);
  }
  void compare_with(const resources& early) const {
    const auto text = [](const resources& r) {
      return std::to_string(r.kibibytes) + " KiB, " + std::to_string(r.threads) + " threads, " +
             std::to_string(r.descriptors) + " descriptors";
    };
    const auto both = text(early) + " at most in the first half, " + text(*this) + " in the second";
    std::cout << both << '\n';
    EXPECT_LE(kibibytes, early.kibibytes + 4096) << both;
    EXPECT_LE(threads, early.threads + 4 + connecting) << both;
    EXPECT_LE(descriptors, early.descriptors + 4) << both;
  }
};

resources resources_of(pid_t pid) {
  const std::filesystem::path folder{"/proc/" + std::to_string(pid)};
  resources out;
  std::ifstream in{folder / "status"};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    std::string name;
    words >> name;
    if (name == "VmRSS:") words >> out.kibibytes;
    if (name == "Threads:") words >> out.threads;
  }
  std::error_code none;
  out.descriptors = std::distance(std::filesystem::directory_iterator{folder / "fd", none}, {});
  return out;
}

std::string all_writes(std::string_view url, const std::string& table) {
  if (url.starts_with("postgresql"))
    return "SELECT coalesce(string_agg(name || ' ' || token || ' ' || number, ';' ORDER BY id), '') FROM " + table;
  if (url.starts_with("sqlite"))
    return "SELECT coalesce(group_concat(name || ' ' || token || ' ' || number, ';'), '') FROM (SELECT * FROM " +
           table + " ORDER BY id)";
  return "SELECT COALESCE(GROUP_CONCAT(CONCAT(name, ' ', token, ' ', number) ORDER BY id SEPARATOR ';'), '') FROM " +
         table;
}

std::string new_table(std::string_view url, const std::string& table) {
  const std::string id = url.starts_with("postgresql") ? "bigserial PRIMARY KEY"
                         : url.starts_with("sqlite")   ? "INTEGER PRIMARY KEY AUTOINCREMENT"
                                                       : "BIGINT AUTO_INCREMENT PRIMARY KEY";
  return "CREATE TABLE " + table + " (id " + id + ", name varchar(100), token bigint, number bigint)";
}

}  // namespace

round::round(std::string url, std::vector<std::string> players_urls, std::vector<std::string> environment)
    : url_{std::move(url)}, players_urls_{std::move(players_urls)}, environment_{std::move(environment)} {
  std::filesystem::create_directory(folder_ / "records");
  locks_.emplace(client::connect(url_, {.call_timeout = 20s, .observer = silent()}));  // the machine may be busy
  locks_->migrate();
  const auto by = open();
  for (const auto* table : {"history_fenced", "history_unfenced"}) by->statement(new_table(url_, table));
}

void round::play(std::chrono::seconds time, const std::vector<nemesis>& others, int calls) {
  std::mt19937 random{seed() + rounds++};
  for (auto i = all_.size(); i < players; ++i) all_.push_back(start(random, i));
  sweeper sweeps{*locks_, {.every = 1s, .retention = 1min}};
  pace_ = time_until_locks_are_had(patience);
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + time * slowness;
  resources early;
  resources late;
  for (auto now = begin; now < end || calls > 0; now = std::chrono::steady_clock::now()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50 + random() % 350});
    (now < begin + time * slowness / 2 ? early : late).raise_to(resources_of(all_.front()->pid()));
    const auto which = random() % (3 + 2 * others.size());
    ++total.faults;
    if (which >= 3) {
      --calls;
      others[(which - 3) / 2](random);
      continue;
    }
    const auto one = random() % all_.size();
    if (which == 0 && one > 0) {
      all_[one]->kill();
      all_[one] = start(random, one);
    } else if (which == 2) {
      error_of([&] { return locks_->force_release("freed/" + std::to_string(random() % names_of_a_kind)); });
    } else {
      const auto paused = pause_one(random);
      let_pass_at_most(1600ms, random);
    }
  }
  if (time >= 1min) late.compare_with(early);
}

std::unique_ptr<obstacle> round::pause_one(std::mt19937& random) {
  auto& one = *all_.at(random() % all_.size());
  one.pause();
  return obstacle_until([&one] { one.resume(); });
}

void let_pass_at_most(std::chrono::milliseconds longest, std::mt19937& random) {
  std::uniform_int_distribution<std::chrono::milliseconds::rep> any{0, longest.count()};
  std::this_thread::sleep_for(std::chrono::milliseconds{any(random)});
}

void freeze_for_a_while(private_server& which, std::chrono::milliseconds longest, std::mt19937& random) {
  const auto in_the_way = which.freeze();
  let_pass_at_most(longest, random);
}

void disturb_network(tcp_proxy& network, std::mt19937& random) {
  constexpr auto longest = 1500ms;
  switch (random() % 5) {
    case 0:
      network.cut();
      break;
    case 1:
      network.delay(std::chrono::milliseconds{random() % 60});
      let_pass_at_most(longest, random);
      network.delay(0ms);
      break;
    case 2:
      network.keep_answers(true);
      let_pass_at_most(longest, random);
      network.keep_answers(false);
      break;
    default:
      network.black_hole(true);
      let_pass_at_most(longest, random);
      network.black_hole(false);
  }
}

void round::goes_on() {
  // Beside many other tests a machine may take any time; soaks have it to themselves.
  const auto most = is_soak() ? recovery * slowness + 2 * pace_ : 2 * patience;
  total.slowest_recovery = std::max(total.slowest_recovery, time_until_locks_are_had(most));
}

std::chrono::steady_clock::duration round::time_until_locks_are_had(std::chrono::steady_clock::duration most) const {
  const stopwatch since;
  const auto before = written_of_locks();
  EXPECT_TRUE(eventually(most, [&] { return written_of_locks() > before + some; }))
      << "hardly anybody gets a lock, though the server answers";
  return since.elapsed();
}

std::uintmax_t round::written_of_locks() const {
  std::uintmax_t out = 0;
  for (const auto& each : std::filesystem::directory_iterator{folder_ / "records"})
    if (each.path().extension() != record::waits) out += each.file_size();
  return out;
}

verdict_of_history round::found(bool excludes) const {
  auto all = read_records(folder_ / "records");
  EXPECT_GT(all.beliefs.size(), 0U);
  all.fenced = written("history_fenced");
  all.unfenced = written("history_unfenced");
  if (loses_commits_) all.confirmed.clear();
  return judge(
      all,
      [&](std::string_view name) {
        auto rules = rules_of(name);
        rules.rolls_back = !rules.excludes && !excludes;
        rules.excludes = rules.excludes && excludes;
        return rules;
      },
      allowed_delay * slowness);
}

void round::end(bool excludes) {
  std::ofstream{folder_ / "enough"}.flush();
  for (auto& each : all_) EXPECT_EQ(each->wait(), 0);
  const auto verdict = found(excludes);
  for (const auto& each : verdict.violations) ADD_FAILURE() << each;
  nothing_is_stuck();
  total.acquisitions += verdict.beliefs;
  total.violations += verdict.violations.size();
  total.unfenced_overlaps += verdict.unfenced_overlaps;
}

std::unique_ptr<child_process> round::start(std::mt19937& random, std::size_t which) const {
  const auto chosen = std::to_string(random());
  const auto one_of_them = [&] { return players_urls_.at(random() % players_urls_.size()); };
  const auto url = which == 0 ? players_urls_.front() : one_of_them();
  std::vector<std::string> arguments{url, players_urls_.size() > 1 ? one_of_them() : url_, folder_.path().string(),
                                     chosen};
  arguments.insert(arguments.end(), environment_.begin(), environment_.end());
  return std::make_unique<child_process>(which == 1 && has_new_player_ ? "new_player" : "player", arguments);
}

// The server may not be back yet.
std::vector<write> round::written(const std::string& table) const {
  std::string text;
  EXPECT_TRUE(eventually([&] {
    try {
      const auto by = open();
      // A node of a cluster waits until it has what the others have written.
      if (url_.starts_with("mysql"))
        by->statement("SET SESSION group_concat_max_len = 1000000000 /*M!, SESSION wsrep_sync_wait = 1 */");
      text = by->text(all_writes(url_, table));
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }));
  return read_writes(text);
}

std::unique_ptr<caller> round::open() const {
  return open_caller(url_, url_.starts_with("sqlite") ? "immediate" : "read committed");
}

void round::nothing_is_stuck() {
  for (const std::string kind : {"alone/", "shared/", "permits/", "freed/"})
    for (int i = 0; i < names_of_a_kind; ++i) {
      const auto name = kind + std::to_string(i);
      std::string why;
      const bool is_free = eventually([&] {
        try {
          why = "taken";
          return locks_->try_acquire_for(name, 5s, {.lease = 1s}).has_value();
        } catch (const error& e) {
          why = e.what();
          return false;
        }
      });
      EXPECT_TRUE(is_free) << name << " is stuck: " << why;
    }
  EXPECT_TRUE(eventually([&] { return succeeds([&] { return locks_->list_waiters().empty(); }); }));
}

void play_rounds(const std::function<void(std::chrono::seconds)>& one) {
  const auto time =
      std::max<std::chrono::seconds>(3s, soak_time() / testing::UnitTest::GetInstance()->test_to_run_count());
  const auto end = std::chrono::steady_clock::now() + time;
  for (auto left = time; left > 0s && !testing::Test::HasFailure();
       left = std::chrono::floor<std::chrono::seconds>(end - std::chrono::steady_clock::now()))
    one(std::min<std::chrono::seconds>(left, a_round));
}

}  // namespace rowlock::test
