#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "history/checker.hpp"
#include "history/record.hpp"
#include "server/private_server.hpp"
#include "support/database.hpp"
#include "support/tcp_proxy.hpp"
#include "testkit/child_process.hpp"
#include "testkit/temp_folder.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test {

/// One round on a database: the players go by one way, the judge by another.
class round {
 public:
  /// Disturbs, once.
  using nemesis = std::function<void(std::mt19937&)>;

  /// `environment`: of the players, "NAME=value".
  round(std::string url, std::string players_url, std::vector<std::string> environment = {})
      : round{std::move(url), std::vector{std::move(players_url)}, std::move(environment)} {}
  /// The players are spread over these, and so are their own transactions.
  round(std::string url, std::vector<std::string> players_urls, std::vector<std::string> environment = {});

  /// From now on one player is a program of the next release.
  void let_a_new_program_play() { has_new_player_ = true; }
  /// The servers may lose what was committed: then that is no fault.
  void let_commits_be_lost() { loses_commits_ = true; }
  /// Kills and pauses players, frees names by force, and does, each so often, what the others do, for that time and
  /// until they were called so often. The first player is never killed: it must not grow.
  void play(std::chrono::seconds time, const std::vector<nemesis>& others, int calls = 0);
  /// For a nemesis: a player is paused while the obstacle is there.
  [[nodiscard]] std::unique_ptr<obstacle> pause_one(std::mt19937& random);
  /// For a nemesis whose server answers again: somebody gets a lock soon.
  void goes_on();
  /// What the players have done so far, judged. `excludes`: no clock was set.
  verdict_of_history found(bool excludes) const;
  /// Lets the players end, and judges what they have done.
  void end(bool excludes);

 private:
  std::unique_ptr<child_process> start(std::mt19937& random, std::size_t which) const;
  std::uintmax_t written_of_locks() const;
  std::chrono::steady_clock::duration time_until_locks_are_had(std::chrono::steady_clock::duration most) const;
  std::vector<write> written(const std::string& table) const;
  std::unique_ptr<caller> open() const;
  void nothing_is_stuck();

  const std::string url_;
  const std::vector<std::string> players_urls_;
  const std::vector<std::string> environment_;
  const temp_folder folder_;
  bool has_new_player_ = false;
  std::chrono::steady_clock::duration pace_{};  // of this machine: how long the players take to begin
  bool loses_commits_ = false;
  std::optional<client> locks_;
  std::vector<std::unique_ptr<child_process>> all_;
};

/// For a nemesis: how long something lasts.
void let_pass_at_most(std::chrono::milliseconds longest, std::mt19937& random);
/// A nemesis.
void freeze_for_a_while(private_server& which, std::chrono::milliseconds longest, std::mt19937& random);

/// A nemesis: connections are cut, slow, or silent in one direction or both, for a while.
void disturb_network(tcp_proxy& network, std::mt19937& random);

/// Plays rounds until the time is over that each of these tests has: a few seconds, or its part of what
/// ROWLOCK_TEST_SOAK says, in seconds. `one` plays one of that length.
void play_rounds(const std::function<void(std::chrono::seconds)>& one);

}  // namespace rowlock::test
