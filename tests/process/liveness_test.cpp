#include <unistd.h>

#include <algorithm>
#include <set>

#include "process/claimant.hpp"
#include "process/process_test.hpp"
#include "support/sqlite_database.hpp"

// In a file of SQLite a lock by for_update lasts for as long as the operating system keeps another file locked: each
// client has one, in the folder beside the database, and the row names it.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

class liveness : public testing::Test {
 protected:
  liveness() { locks_.migrate(); }

  client connect() const { return connect_patiently(db_.url()); }
  claimant start(strategy by = strategy::for_update) const { return claimant{db_.url(), by}; }
  static lock_options for_update() { return {.strategy = strategy::for_update}; }

  fs::path folder() const { return db_.file().string() + "-rowlock"; }
  std::set<std::string> files() const {
    std::set<std::string> out;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{folder(), none}) out.insert(entry.path().filename());
    return out;
  }
  bool has_any_of(const std::set<std::string>& some) const {
    const auto now = files();
    return std::any_of(some.begin(), some.end(), [&](const auto& each) { return now.contains(each); });
  }
  /// What the row names; nullopt where it names nothing.
  std::optional<std::string> named_by(const std::string& name) {
    return db_.ask("SELECT liveness FROM rowlock_lock WHERE name = '" + name + "'").at(0).at(0);
  }
  void expect_busy(client& by) const {
    for (const auto each : all_strategies)
      EXPECT_FALSE(by.try_acquire("job", {.strategy = each}).has_value()) << to_string(each);
  }

  sqlite_database db_;
  client locks_ = connect();
};

TEST_F(liveness, is_a_file_that_the_row_names_and_that_leases_do_not_need) {
  for (const auto by : {strategy::unique_index, strategy::version_cas})
    const auto lease = locks_.acquire("job", {.strategy = by});
  EXPECT_TRUE(files().empty());
  auto held = locks_.acquire("job", for_update());
  const auto row = db_.row("job").value();
  EXPECT_TRUE(row.owner.has_value());
  EXPECT_FALSE(row.expires_at.has_value());
  const auto file = named_by("job");
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(fs::exists(folder() / *file)) << *file;
  const auto also = locks_.acquire("other job", for_update());
  EXPECT_EQ(named_by("other job"), file) << "a client has one";
  held.release();
  EXPECT_FALSE(db_.row("job").value().owner.has_value());
  const auto lease = locks_.acquire("job");
  EXPECT_FALSE(named_by("job").has_value());
}

TEST_F(liveness, is_of_each_client_its_own) {
  auto other = connect();
  const auto one = locks_.acquire("one", for_update());
  const auto two = other.acquire("two", for_update());
  EXPECT_NE(named_by("one"), named_by("two"));
  other.close();
  EXPECT_TRUE(two.lost().stop_requested());
  EXPECT_FALSE(one.lost().stop_requested());
  claimant stranger = start();
  EXPECT_EQ(stranger.ask("try one"), "busy");
  EXPECT_EQ(stranger.ask("try two"), "granted");
}

TEST_F(liveness, leaves_no_file_behind) {
  {
    auto other = connect();
    const auto one = locks_.acquire("one", for_update());
    auto two = other.acquire("two", for_update());
    two.release();
    EXPECT_FALSE(files().empty());
  }
  locks_.close();
  EXPECT_TRUE(files().empty());
  locks_ = connect();
  claimant holder = start();
  holder.claim("job");
  holder.order("end");  // with the lock in its hands
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(locks_.try_acquire("job", for_update()).has_value());
  locks_.close();
  EXPECT_TRUE(files().empty());
}

TEST_F(liveness, that_has_ended_is_not_shown_as_held) {
  claimant holder = start();
  holder.claim("job");
  EXPECT_TRUE(locks_.find("job").has_value());
  EXPECT_EQ(locks_.list().size(), 1U);
  holder.kill();
  EXPECT_FALSE(locks_.find("job").has_value());
  EXPECT_TRUE(locks_.list().empty());
}

TEST_F(liveness, is_not_ended_by_a_child_of_a_fork_that_ends) {
  auto held = locks_.acquire("job", for_update());
  const pid_t child = ::fork();
  if (child == 0) {
    held = held_lock{};
    locks_.close();
    ::_exit(0);
  }
  EXPECT_EQ(wait_for(child), 0);
  claimant other = start();
  EXPECT_EQ(other.ask("try job"), "busy");
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_NO_THROW(held.release());
  EXPECT_EQ(other.ask("try job"), "granted");
}

// Whoever opens and closes a file loses all locks that its process has on it, as POSIX has it.
TEST_F(liveness, is_not_ended_by_other_clients_of_its_process) {
  auto held = locks_.acquire("job", for_update());
  {
    auto other = connect();
    expect_busy(other);
    EXPECT_TRUE(other.find("job").has_value());
    const auto beside = other.acquire("other job", for_update());
    expect_busy(other);
  }
  claimant stranger = start();
  EXPECT_EQ(stranger.ask("try job"), "busy");
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_NO_THROW(held.release());
}

TEST_F(liveness, goes_on_without_its_folder) {
  claimant holder = start();
  const auto token = holder.claim("job");
  fs::remove_all(folder());
  for (int i = 0; i < 5; ++i) {
    expect_busy(locks_);
    EXPECT_FALSE(locks_.try_acquire_for("job", 50ms, for_update()).has_value());
  }
  EXPECT_EQ(holder.ask("held?"), "yes");
  EXPECT_EQ(holder.ask("release"), "released");
  auto next = locks_.try_acquire("job", for_update());
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token().value(), token);
  const auto last = next->token().value();
  EXPECT_EQ(holder.ask("try job"), "busy");
  next->release();
  EXPECT_GT(holder.claim("job"), last) << "it goes on to work";
  expect_busy(locks_);
  EXPECT_EQ(holder.ask("release"), "released");
  holder.order("end");
  EXPECT_EQ(holder.wait(), 0);
}

TEST_F(liveness, of_crashed_clients_is_cleared_away_and_their_locks_can_be_had) {
  const std::vector<std::string> names{"one", "two", "three"};
  for (const auto& name : names) {
    claimant holder = start();
    holder.claim(name);
    holder.kill();
  }
  const auto left = files();
  EXPECT_FALSE(left.empty());
  EXPECT_TRUE(eventually([&] {
    auto later = connect();
    later.acquire("another", for_update()).release();
    return !has_any_of(left);
  })) << "what crashed clients left is still there";
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_TRUE(locks_.try_acquire(names[i], {.strategy = all_strategies.at(i)}).has_value()) << names[i];
  locks_.close();
  EXPECT_TRUE(files().empty());
}

TEST_F(liveness, of_living_clients_is_not_cleared_away) {
  claimant holder = start();
  holder.claim("job");
  for (int i = 0; i < 5; ++i) {
    auto later = connect();
    later.acquire("another", for_update()).release();
    later.close();
    expect_busy(locks_);
  }
  EXPECT_EQ(holder.ask("release"), "released");
}

}  // namespace
}  // namespace rowlock::test
