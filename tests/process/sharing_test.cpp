#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

#include "process/process_test.hpp"
#include "process/restless_crew.hpp"
#include "process/visits.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"

// A random history of names that are had alone, shared, and by permits, with processes that are killed and paused
// meanwhile, and a program that judges it.

namespace rowlock::test {
namespace {

constexpr std::int64_t all_permits = 3;
constexpr auto short_lease = 400ms;

/// For as long somebody relied on a lock, by the clock that all processes share.
struct belief {
  std::int64_t permits = 0;  ///< 0: alone
  std::int64_t token = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool is_alone() const { return permits == 0; }
  bool meets(const belief& other) const { return begin < other.end && other.begin < end; }
};

/// Of one name. Empty: nothing is wrong with it. `most`: how many permits there are.
std::string what_is_wrong(std::vector<belief> history, std::int64_t most) {
  std::sort(history.begin(), history.end(), [](const belief& a, const belief& b) { return a.begin < b.begin; });
  std::set<std::int64_t> tokens;
  for (const auto& each : history)
    if (!tokens.insert(each.token).second) return "a token was given twice: " + std::to_string(each.token);
  for (auto a = history.begin(); a != history.end(); ++a) {
    std::int64_t given = a->permits;
    for (auto b = history.begin(); b != history.end(); ++b) {
      if (a == b) continue;
      const bool is_about_one_alone = a->is_alone() || b->is_alone();
      const auto both = std::to_string(a->token) + " and " + std::to_string(b->token);
      if (is_about_one_alone && a->meets(*b)) return "had by one alone and by another: " + both;
      if (is_about_one_alone && a->begin < b->begin && a->token > b->token) return "tokens do not grow: " + both;
      if (b->begin <= a->begin && a->begin < b->end) given += b->permits;
    }
    if (given > most) return std::to_string(given) + " permits were given out at " + std::to_string(a->token);
  }
  return {};
}

std::vector<belief> read_history(const std::filesystem::path& folder, const std::string& name) {
  std::vector<belief> out;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    std::ifstream in{file.path()};
    std::string of;
    for (belief each; in >> of >> each.permits >> each.token >> each.begin >> each.end;)
      if (of == name) out.push_back(each);
  }
  return out;
}

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
  std::ofstream log{folder / ("by" + std::to_string(lasting_number()))};
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
    log << name << ' ' << permits << ' ' << held->token() << ' ' << relied->begin << ' ' << relied->end << std::endl;
    error_of([&] { held->release(); });
  }
  return 0;
}

const role_registration sharer_role{"sharer", share_at_random};

class sharing_history : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(sharing_history);

TEST(sharing_checker, rejects_bad_histories) {
  EXPECT_EQ(what_is_wrong({{1, 1, 0, 10}, {2, 2, 5, 10}, {0, 3, 10, 20}, {1, 4, 20, 30}}, 3), "");
  EXPECT_NE(what_is_wrong({{0, 1, 0, 10}, {0, 2, 9, 20}}, 3), "") << "two alone";
  EXPECT_NE(what_is_wrong({{1, 1, 0, 10}, {0, 2, 9, 20}}, 3), "") << "one alone beside another";
  EXPECT_NE(what_is_wrong({{1, 1, 0, 10}, {1, 2, 1, 10}, {2, 3, 2, 5}}, 3), "") << "too many permits";
  EXPECT_NE(what_is_wrong({{1, 7, 0, 10}, {1, 7, 1, 10}}, 3), "") << "a token twice";
  EXPECT_NE(what_is_wrong({{0, 9, 0, 10}, {1, 8, 11, 12}}, 3), "") << "tokens that do not grow";
}

TEST_P(sharing_history, has_nothing_wrong_whoever_is_killed_and_paused) {
  const temp_folder folder;
  std::mt19937 random{seed()};
  restless_crew sharers{folder.path(), 4, [&] {
                          return std::make_unique<child_process>(
                              "sharer", std::vector{db().url(), folder.path().string(), std::to_string(random())});
                        }};
  sharers.disturb_some(many(60, 8), random, 2 * short_lease);
  sharers.end();

  for (const auto* name : {"readers", "permits"}) {
    const auto history = read_history(folder.path(), name);
    EXPECT_GT(history.size(), 5U);
    EXPECT_EQ(what_is_wrong(history, std::string{name} == "permits" ? all_permits : 1000), "") << name;
    std::int64_t last = 0;
    for (const auto& each : history) last = std::max(last, each.token);
    std::optional<held_lock> alone;
    EXPECT_TRUE(eventually([&] { return (alone = locks_.try_acquire(name)).has_value(); })) << name << " is stuck";
    EXPECT_TRUE(alone && alone->token().value() > last);
    EXPECT_TRUE(locks_.sharers(name).empty());
  }
}

}  // namespace
}  // namespace rowlock::test
