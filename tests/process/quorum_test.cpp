#include <cstdint>
#include <random>

#include "history/checker.hpp"
#include "history/record.hpp"
#include "process/process_test.hpp"
#include "process/restless_crew.hpp"
#include "process/visits.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

/// A quorum_lock with the clients that it refers to.
struct quorum_of_urls {
  quorum_of_urls(const std::vector<std::string>& urls, lock_options options) {
    for (const auto& each : urls) clients.push_back(connect_patiently(each));
    lock.emplace(std::vector<std::reference_wrapper<client>>{clients.begin(), clients.end()}, "job",
                 std::move(options));
  }
  std::vector<client> clients;
  std::optional<quorum_lock> lock;
};

std::vector<std::string> from_third(const std::vector<std::string>& arguments) {
  return {arguments.begin() + 2, arguments.end()};
}

/// quorum_holder LEASE - URL...: takes the lock, says so, then does as it is told.
int hold_quorum(const std::vector<std::string>& arguments) {
  quorum_of_urls job{from_third(arguments), {.lease = std::chrono::milliseconds{std::stoll(arguments.at(0))}}};
  auto held = job.lock->acquire();
  say("held");
  for (;;) {
    const auto order = hear();
    if (order == "lost?") {
      const auto why = held.why_lost();
      say(held.lost().stop_requested() ? to_string(why) : "held");
    } else if (order == "release") {
      const auto e = error_of([&] { held.release(); });
      say(e ? e->code().message() : "released");
    } else {
      return order == "end" ? 0 : 1;
    }
  }
}

const role_registration quorum_holder_role{"quorum_holder", hold_quorum};

/// quorum_visitor FOLDER SEED URL...: until it finds "enough" in the folder, has the lock for some time, and writes
/// down for how long it relied on it.
int visit_by_quorum(const std::vector<std::string>& arguments) {
  const std::filesystem::path folder{arguments.at(0)};
  quorum_of_urls job{from_third(arguments), {.lease = 400ms}};
  std::mt19937 random{static_cast<unsigned>(std::stoul(arguments.at(1)))};
  record log{folder / "records" / std::to_string(lasting_number())};
  say("going");
  while (!std::filesystem::exists(folder / "enough")) {
    std::optional<held_quorum> held;
    if (error_of([&] { return (held = job.lock->try_acquire_for(300ms)).has_value(); }) || !held) continue;
    const auto relied = rely_on(*held, static_cast<std::int64_t>(random() % 20'000));
    if (!relied) continue;
    log.ends(log.begins({.name = "job", .begin = relied->begin}), relied->end);
  }
  return 0;
}

const role_registration quorum_visitor_role{"quorum_visitor", visit_by_quorum};

/// Three databases of one kind.
class quorum_of_processes : public on_each_database {
 protected:
  quorum_of_processes() {
    for (const auto* each : {&db(), second_.get(), third_.get()}) {
      urls_.push_back(each->url());
      connect_patiently(urls_.back()).migrate();
    }
  }
  std::vector<std::string> arguments(std::string first, std::string second) const {
    std::vector<std::string> out{std::move(first), std::move(second)};
    out.insert(out.end(), urls_.begin(), urls_.end());
    return out;
  }

  std::unique_ptr<database> second_ = GetParam().open();
  std::unique_ptr<database> third_ = GetParam().open();
  std::vector<std::string> urls_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(quorum_of_processes);

TEST_P(quorum_of_processes, one_that_is_paused_beyond_its_validity_finds_itself_lost) {
  quorum_of_urls job{urls_, {.lease = 30s}};
  child_process holder{"quorum_holder", arguments("1000", "-")};
  holder.expect("held");
  EXPECT_FALSE(job.lock->try_acquire());
  holder.pause();
  const auto next = job.lock->try_acquire_for(patience);
  ASSERT_TRUE(next) << "once its leases have ended";
  holder.resume();
  holder.send("lost?");
  const auto why = holder.read_line();
  EXPECT_TRUE(why == "expired" || why == "taken_over" || why == "unreachable") << why;
  holder.send("release");
  EXPECT_EQ(holder.read_line(), make_error_code(errc::lock_lost).message());
  holder.send("end");
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_FALSE(next->lost().stop_requested()) << "and harms nobody";
  EXPECT_GE(next->members().size(), 2U);
}

TEST_P(quorum_of_processes, one_that_is_killed_leaves_it_to_the_next) {
  quorum_of_urls job{urls_, {.lease = 30s}};
  child_process holder{"quorum_holder", arguments("1000", "-")};
  holder.expect("held");
  holder.kill();
  EXPECT_TRUE(job.lock->try_acquire_for(patience));
}

TEST_P(quorum_of_processes, no_two_believe_at_once_whoever_is_killed_and_paused) {
  const temp_folder folder;
  std::filesystem::create_directory(folder.path() / "records");
  std::mt19937 random{seed()};
  restless_crew visitors{folder.path(), 3, [&] {
                           return std::make_unique<child_process>(
                               "quorum_visitor", arguments(folder.path().string(), std::to_string(random())));
                         }};
  visitors.disturb_some(many(40, 6), random, 800ms);
  visitors.end();

  const auto all = read_records(folder.path() / "records");
  EXPECT_GT(all.beliefs.size(), 5U);
  const auto rules_of = [](std::string_view /*name*/) { return name_rules{.has_tokens = false}; };
  for (const auto& each : judge(all, rules_of, 0).violations) ADD_FAILURE() << each;
}

}  // namespace
}  // namespace rowlock::test
