#pragma once

#include <rowlock/rowlock.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "property/program.hpp"
#include "property/reference.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test::property {

/// Plays programs on a database, each with names of its own, and compares the library with the reference after each
/// step. In one thread: so what happens is determined.
class player {
 public:
  /// `has_row_locks` as the reference asks.
  player(std::vector<client> locks, std::unique_ptr<caller> tx, bool has_row_locks)
      : clients_{std::move(locks)}, tx_{std::move(tx)}, has_row_locks_{has_row_locks} {}

  /// What they do not agree on; nullopt: they do.
  std::optional<std::string> play(const program& all, mistake wrong = mistake::none);

 private:
  using handles = std::map<int, held_lock>;  // by the steps that were granted them
  lock_name name(int of) const { return prefix() + std::to_string(of); }
  std::string prefix() const { return "run " + std::to_string(runs_) + "/"; }

  answer take(const step& s, const reference& by);
  answer ask(const step& s);
  answer with_handle(const step& s, held_lock& of);
  answer force(const step& s, const reference& by);
  std::string difference(const reference& by);
  std::string difference_of(int name, const std::vector<holding_ptr>& holders, const lock_info& seen);

  std::vector<client> clients_;
  std::unique_ptr<caller> tx_;
  bool has_row_locks_;
  handles handles_;
  int runs_ = 0;
};

}  // namespace rowlock::test::property
