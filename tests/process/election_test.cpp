#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <thread>

#include "process/process_test.hpp"
#include "process/restless_crew.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"
#include "testkit/connection.hpp"

// Leaders that are killed and paused at random, as judged in the database: each writes its term into one row, in
// transactions that confirm its lead, and the row counts what must not be.

namespace rowlock::test {
namespace {

constexpr std::chrono::milliseconds lead_lease{500};

std::unique_ptr<connection> connect_to([[maybe_unused]] const std::string& url) {
#ifdef ROWLOCK_WITH_POSTGRESQL
  if (url.starts_with("postgresql")) return connect_postgresql(url);
#endif
#ifdef ROWLOCK_WITH_MYSQL
  if (url.starts_with("mysql") || url.starts_with("mariadb")) return connect_mysql(url);
#endif
#ifdef ROWLOCK_WITH_SQLITE
  if (url.starts_with("sqlite:")) return connect_sqlite(url.substr(url.find(':') + 1), {.begins_immediately = true});
#endif
  throw std::runtime_error{"no driver for the database of this test"};
}

// MySQL changes columns one after the other: the term is the last.
std::string write_of(std::int64_t term) {
  const auto own = std::to_string(term);
  return "UPDATE terms SET late = late + CASE WHEN term > " + own +
         " THEN 1 ELSE 0 END, leaders = leaders + CASE WHEN term <> " + own +
         " THEN 1 ELSE 0 END, writes = writes + 1, term = " + own;
}

/// leader URL FOLDER: stands for election until it finds "enough" in the folder, and writes while it leads.
int lead_and_write(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const auto own = connect_to(arguments.at(0));
  const auto enough = std::filesystem::path{arguments.at(1)} / "enough";
  election writers{locks, "writers", {.lock = {.lease = lead_lease}}};
  std::stop_source stop;
  const auto write = [&](const std::stop_token& told, const held_lock& lead) {
    while (!told.stop_requested()) {
      if (std::filesystem::exists(enough)) return static_cast<void>(stop.request_stop());
      // Nobody else can lead between the confirmation and the end of the transaction. If that fails, it leads no more,
      // or a write of the database did; the next term or the next turn of this one makes up for it.
      try {
        own->in_transaction([&](open_transaction& tx) {
          tx.prove(lead);
          own->change(write_of(lead.token().value()));
        });
      } catch (const error& e) {
        if (!e.is_retryable() && e.code() != errc::lock_lost) throw;
      }
      std::this_thread::sleep_for(1ms);
    }
  };
  say("going");
  std::jthread ends{[&](const std::stop_token& over) {
    while (!over.stop_requested() && !std::filesystem::exists(enough)) std::this_thread::sleep_for(5ms);
    stop.request_stop();
  }};
  writers.lead(stop.get_token(), write);
  return 0;
}

const role_registration leader_role{"leader", lead_and_write};

class elected_processes : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(elected_processes);

TEST_P(elected_processes, never_overlap_whoever_is_killed_and_paused) {
  const temp_folder folder;
  const auto judge = connect_to(db().url());
  judge->execute("CREATE TABLE terms (term BIGINT, late INTEGER, leaders INTEGER, writes INTEGER)");
  judge->change("INSERT INTO terms VALUES (0, 0, 0, 0)");

  std::mt19937 random{seed()};
  restless_crew leaders{
      folder.path(), 4, [&] {
        return std::make_unique<child_process>("leader", std::vector{db().url(), folder.path().string()});
      }};
  // The one that leads, mostly: the others only stand by.
  const auto chosen = [&]() -> restless_crew::member& {
    const auto leader = locks_.find("writers");
    for (auto& each : leaders.members())
      if (leader && random() % 4 != 0 &&
          leader->owner.find(':' + std::to_string(each->pid()) + ':') != std::string::npos)
        return each;
    return leaders.any(random);
  };
  std::vector<std::int64_t> seen;
  election writers{locks_, "writers", {.look_every = 10ms}};
  auto watching = writers.observe([&](const std::optional<lock_info>& leader) {
    if (leader) seen.push_back(leader->token.value());
  });
  for (int i = 0; i < many(60, 8); ++i) {
    const auto writes = judge->execute("SELECT writes FROM terms");
    leaders.disturb(chosen(), random, 2 * lead_lease);
    ASSERT_TRUE(eventually([&] { return judge->execute("SELECT writes FROM terms") > writes; })) << "nobody leads";
  }
  leaders.end();
  watching.stop();

  EXPECT_EQ(judge->execute("SELECT late FROM terms"), 0) << "a leader wrote after a later one had";
  EXPECT_GE(judge->execute("SELECT leaders FROM terms"), 2);
  EXPECT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_GT(writers.campaign().token().value(), judge->execute("SELECT term FROM terms"));
}

}  // namespace
}  // namespace rowlock::test
