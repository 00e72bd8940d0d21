#include <algorithm>
#include <cstdint>
#include <random>

#include "history/checker.hpp"
#include "history/record.hpp"
#include "process/process_test.hpp"
#include "process/restless_crew.hpp"
#include "process/visits.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"

// A random history of names that are had alone, shared, and by permits, with processes that are killed and paused
// meanwhile, and a program that judges it. What that program rejects: see history/checker_test.cpp.

namespace rowlock::test {
namespace {

constexpr std::int64_t all_permits = 3;
constexpr auto short_lease = 400ms;

/// Takes one of the two names in some way.
std::optional<held_lock> take(client& locks, const std::string& name, std::int64_t permits, std::mt19937& random) {
  const auto order = random() % 2 == 0 ? fairness::fifo : fairness::unfair;
  const auto wait = std::chrono::milliseconds{random() % 300};
  if (permits == 0) {
    const auto by = all_strategies.at(random() % all_strategies.size());
    return by == strategy::for_update
               ? locks.try_acquire_for(name, wait, {.strategy = by, .fairness = order})
               : locks.try_acquire_for(name, wait, {.strategy = by, .lease = short_lease, .fairness = order});
  }
  const lock_options options{.lease = short_lease, .fairness = order};
  if (name == "permits") return semaphore{locks, name, all_permits, options}.try_acquire_for(wait, permits);
  return locks.try_acquire_shared_for(name, wait, options);
}

/// sharer URL FOLDER SEED: until it finds "enough" in the folder, has either name alone or shares it, and writes down
/// for how long it relied on it.
int share_at_random(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const std::filesystem::path folder{arguments.at(1)};
  record log{folder / "records" / std::to_string(lasting_number())};
  std::mt19937 random{static_cast<unsigned>(std::stoul(arguments.at(2)))};
  say("going");
  while (!std::filesystem::exists(folder / "enough")) {
    const std::string name = random() % 2 == 0 ? "permits" : "readers";
    const auto permits = random() % 4 == 0   ? 0
                         : name == "readers" ? 1
                                             : static_cast<std::int64_t>(1 + random() % all_permits);
    std::optional<held_lock> held;
    if (error_of([&] { return (held = take(locks, name, permits, random)).has_value(); }) || !held) continue;
    const auto relied = rely_on(*held, static_cast<std::int64_t>(random() % 20'000));
    if (!relied) continue;
    const belief b{.name = name, .permits = permits, .token = held->token().value(), .begin = relied->begin};
    log.ends(log.begins(b), relied->end);
    error_of([&] { held->release(); });
  }
  return 0;
}

const role_registration sharer_role{"sharer", share_at_random};

class sharing_history : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(sharing_history);

TEST_P(sharing_history, has_nothing_wrong_whoever_is_killed_and_paused) {
  const temp_folder folder;
  std::filesystem::create_directory(folder.path() / "records");
  std::mt19937 random{seed()};
  restless_crew sharers{folder.path(), 4, [&] {
                          return std::make_unique<child_process>(
                              "sharer", std::vector{db().url(), folder.path().string(), std::to_string(random())});
                        }};
  sharers.disturb_some(many(60, 8), random, 2 * short_lease);
  sharers.end();

  const auto all = read_records(folder.path() / "records");
  const auto rules_of = [](std::string_view name) {
    return name_rules{.permits = name == "permits" ? all_permits : 0};
  };
  for (const auto& each : judge(all, rules_of, 0).violations) ADD_FAILURE() << each;
  for (const std::string name : {"readers", "permits"}) {
    int visits = 0;
    std::int64_t last = 0;
    for (const auto& each : all.beliefs) {
      if (each.name != name) continue;
      ++visits;
      last = std::max(last, each.token);
    }
    EXPECT_GT(visits, 5) << name;
    std::optional<held_lock> alone;
    EXPECT_TRUE(eventually([&] { return (alone = locks_.try_acquire(name)).has_value(); })) << name << " is stuck";
    EXPECT_TRUE(alone && alone->token().value() > last);
    EXPECT_TRUE(locks_.sharers(name).empty());
  }
}

}  // namespace
}  // namespace rowlock::test
