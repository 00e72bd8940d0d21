#include "history/player.hpp"

#include <malloc.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "history/record.hpp"
#include "process/roles.hpp"
#include "support/errors.hpp"
#include "support/next_release.hpp"
#include "support/recorder.hpp"
#include "testkit/eventually.hpp"
#include "transaction/caller.hpp"

// A process that takes names at random, in every way that there is, and writes down for how long it relied on them.

namespace rowlock::test {
namespace {

constexpr int threads = 2;  // of each player, so that leases are handed over

const bool holds_long = std::getenv(long_holds) != nullptr;

std::int64_t microseconds_of(std::chrono::steady_clock::duration d) {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

std::filesystem::path own_record(const std::filesystem::path& folder, int thread) {
  return folder / ("records/" + std::to_string(lasting_number()) + "-" + std::to_string(thread));
}

/// Starts this program in that environment instead, unless it is there already.
void play_in(const std::vector<std::string>& environment, const std::vector<std::string>& arguments) {
  bool is_there = true;
  for (const auto& each : environment) {
    const auto equals = each.find('=');
    const auto name = each.substr(0, equals);
    is_there = is_there && std::getenv(name.c_str()) != nullptr;
    ::setenv(name.c_str(), each.c_str() + equals + 1, 1);
  }
  if (is_there) return;
  std::vector<std::string> words{"player", "--role", "player"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  throw std::system_error{errno, std::generic_category(), "execv"};
}

// Unique in all processes.
std::int64_t next_number() {
  static std::atomic<std::int64_t> last{static_cast<std::int64_t>(lasting_number() >> 1) << 32};
  return ++last;
}

class player {
 public:
  player(client& locks, std::string url, const std::filesystem::path& file, unsigned seed)
      : locks_{locks}, url_{std::move(url)}, record_{file}, random_{seed} {}

  /// Once, in some way.
  void play() try {
    switch (random_() % 8) {
      case 0:
        return by_mutex(name("alone/"));
      case 1:
        return by_set();
      case 2:
        return keep_if_had(shared(name("shared/")), 1);
      case 3: {
        const auto permits = static_cast<std::int64_t>(1 + random_() % all_permits);
        return keep_if_had(permitted(name("permits/"), permits), permits);
      }
      case 4:
        return keep_if_had(alone(name("freed/"), any_strategy()), 0);
      case 5:
        return keep_if_had(alone(name("shared/"), strategy::unique_index), 0);
      case 6:
        return keep_if_had(alone(name("permits/"), strategy::version_cas), 0);
      default:
        return keep_if_had(alone(name("alone/"), a_lease()), 0);
    }
  } catch (const error&) {  // what fails is tried again, in some other way
  }

 private:
  std::string name(const char* kind) { return kind + std::to_string(random_() % names_of_a_kind); }
  duration lease() { return holds_long ? std::chrono::milliseconds{1000 << std::min(random_() % 4, 2UL)} : 800ms; }
  strategy a_lease() { return random_() % 2 == 0 ? strategy::unique_index : strategy::version_cas; }
  strategy any_strategy() { return random_() % 3 == 0 ? strategy::for_update : a_lease(); }
  lock_options options(strategy by) {
    lock_options out{.strategy = by, .fairness = random_() % 2 == 0 ? fairness::fifo : fairness::unfair};
    if (by != strategy::for_update) out.lease = lease();
    return out;
  }

  /// Calls `take` with a limit, and writes down how long it took.
  template <class Take>
  auto timed(Take take) {
    const std::chrono::milliseconds limit{random_() % (holds_long ? 2000 : 300)};
    const auto from = std::chrono::steady_clock::now();
    const auto note = [&] {
      record_.waited(
          {.limit = microseconds_of(limit), .took = microseconds_of(std::chrono::steady_clock::now() - from)});
    };
    try {
      auto out = take(limit);
      note();
      return out;
    } catch (const error&) {
      note();
      throw;
    }
  }
  std::optional<held_lock> alone(const std::string& what, strategy by) {
    return timed([&](auto limit) { return locks_.try_acquire_for(what, limit, options(by)); });
  }
  std::optional<held_lock> shared(const std::string& what) {
    return timed(
        [&](auto limit) { return locks_.try_acquire_shared_for(what, limit, options(strategy::unique_index)); });
  }
  std::optional<held_lock> permitted(const std::string& what, std::int64_t permits) {
    semaphore all{locks_, what, all_permits, options(strategy::unique_index)};
    return timed([&](auto limit) { return all.try_acquire_for(limit, permits); });
  }

  void by_mutex(const std::string& what) {
    mutex m{locks_, what, {.lease = lease()}};
    const bool has = timed([&](auto limit) { return m.try_lock_for(limit); });
    if (!has) return;
    const std::unique_lock held{m, std::adopt_lock};
    keep({{&m.held(), 0}});
  }

  void by_set() {
    std::vector<lock_name> names;
    for (int i = 0; i < names_of_a_kind; ++i) names.emplace_back("alone/" + std::to_string(i));
    std::ranges::shuffle(names, random_);
    names.pop_back();
    auto all = timed([&](auto limit) { return locks_.try_acquire_all_for(names, limit, options(a_lease())); });
    if (!all) return;
    holdings held;
    for (const auto& each : all->locks()) held.push_back({&each, 0});
    keep(held);
    all->release();
  }

  void keep_if_had(std::optional<held_lock> held, std::int64_t permits) {
    if (!held) return;
    keep({{&*held, permits}});
    held->release();
  }

  struct holding {
    const held_lock* held;
    std::int64_t permits;
    std::int64_t number = 0;
    std::int64_t end = 0;
  };
  using holdings = std::vector<holding>;

  // It relied on a lock at a moment if it was not lost when that was over.
  void keep(holdings all) {
    for (auto& each : all) {
      each.end = shared_clock();
      if (each.held->why_lost() != loss_reason::none) continue;  // it was paused since the grant
      const belief b{.name = std::string{each.held->name().view()},
                     .permits = each.permits,
                     .token = each.held->token().value(),
                     .begin = each.end,
                     .end = each.end};
      each.number = record_.begins(b);
    }
    if (random_() % 2 == 0) write(*all.front().held, all.front().permits == 0);
    const auto until = shared_clock() + static_cast<std::int64_t>(random_() % (holds_long ? 3'000'000 : 10'000));
    bool is_held = true;
    for (auto now = shared_clock(); is_held; now = shared_clock()) {
      is_held = false;
      for (auto& each : all) {
        if (each.held->why_lost() != loss_reason::none) continue;
        each.end = now;
        is_held = true;
      }
      if (now >= until) break;
      std::this_thread::sleep_for(1ms);
    }
    for (const auto& each : all)
      if (each.number > 0) record_.ends(each.number, each.end);
  }

  void write(const held_lock& held, bool is_alone) try {
    if (!by_) by_ = open_caller(url_, url_.starts_with("sqlite") ? "immediate" : "read committed");
    const struct write w {
      .name = std::string{held.name().view()}, .token = held.token().value(), .number = next_number()
    };
    const auto values = "('" + w.name + "', " + std::to_string(w.token) + ", " + std::to_string(w.number) + ")";
    if (random_() % 2 == 0) by_->statement("INSERT INTO history_unfenced (name, token, number) VALUES " + values);
    if (!is_alone || held.strategy() == strategy::for_update) return;
    by_->begin();
    by_->confirm(held);
    by_->statement("INSERT INTO history_fenced (name, token, number) VALUES " + values);
    if (url_.starts_with("mysql")) by_->statement("COMMIT");  // Connector/C++ does not throw where its own fails
    by_->commit();
    record_.confirmed(w);
  } catch (const std::exception&) {  // the connection may be unusable, or in a transaction
    by_.reset();
  }

  client& locks_;
  const std::string url_;
  record record_;
  std::mt19937 random_;
  std::unique_ptr<caller> by_;
};

/// Mostly the defaults.
client_options options_of(unsigned seed) {
  client_options out{.call_timeout = holds_long ? 3s : 1s, .observer = silent()};
  if (holds_long) out.transaction_limit = 1s;  // no longer than a quarantine
  out.handover = seed % 4 != 0;
  out.transaction_pooling = std::getenv(transaction_pooling) != nullptr;
  return out;
}

/// player URL OWN_URL FOLDER SEED [NAME=VALUE...]: plays until it finds "enough" in the folder, in that environment.
/// The other URL is for its transactions, whose drivers would wait for ever for an answer that was lost.
template <class Connect>
int play_a_history(const std::vector<std::string>& arguments, Connect connect) {
  if (arguments.size() > 4)
    play_in({arguments.begin() + 4, arguments.end()}, {arguments.begin(), arguments.begin() + 4});
  ::mallopt(M_ARENA_MAX, 1);  // others keep what handshakes of TLS have freed, which looks like a leak
  const auto& url = arguments.at(0);
  const auto& own_url = arguments.at(1);
  const std::filesystem::path folder{arguments.at(2)};
  const auto seed = static_cast<unsigned>(std::stoul(arguments.at(3)));
  const auto is_enough = [&] { return std::filesystem::exists(folder / "enough"); };
  std::optional<client> locks;
  // A member of a cluster may be no primary for long.
  while (!locks && !is_enough())
    error_of([&] {
      locks.emplace(connect(url, options_of(seed)));
      return true;
    });
  if (!locks) return 0;
  say("going");
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      player one{*locks, own_url, own_record(folder, i), seed + static_cast<unsigned>(i)};
      while (!is_enough()) one.play();
    });
  return 0;
}

int play_as_an_old_program(const std::vector<std::string>& arguments) {
  return play_a_history(arguments, client::connect);
}

/// new_player URL OWN_URL FOLDER SEED: the same by a program of the next release.
int play_as_a_new_program(const std::vector<std::string>& arguments) {
  return play_a_history(
      arguments, [](const std::string& url, const client_options& with) { return connect_next_release(url, with); });
}

const role_registration player_role{"player", play_as_an_old_program};
const role_registration new_player_role{"new_player", play_as_a_new_program};

}  // namespace
}  // namespace rowlock::test
