#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contest.hpp"
#include "measure.hpp"
#include "server.hpp"

namespace bench {

/// Each subject in tables of its own, which are gone afterwards.
std::vector<bench_case> cases_on(const std::shared_ptr<const server>& at);

std::vector<bench_case> sqlite_cases();

/// Fresh tables, as long as `place` is kept.
struct ground {
  std::shared_ptr<const void> place;
  server at;
  std::string prefix;
};

/// A table of old rows: cycles beside its sweep, and how long it takes to be rid of them.
std::vector<bench_case> sweep_cases(const std::string& database, const std::function<ground()>& make);

// --- between processes

/// Each subject in tables of its own, which are gone afterwards.
std::vector<contest> contests_on(const std::shared_ptr<const server>& at);
/// Each in a file of its own.
std::vector<contest> sqlite_contests();

}  // namespace bench
