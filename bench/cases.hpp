#pragma once

#include <memory>
#include <vector>

#include "contest.hpp"
#include "measure.hpp"
#include "server.hpp"

namespace bench {

/// Each subject in tables of its own, which are gone afterwards.
std::vector<bench_case> cases_on(const std::shared_ptr<const server>& at);

std::vector<bench_case> sqlite_cases();

// --- between processes

/// Each subject in tables of its own, which are gone afterwards.
std::vector<contest> contests_on(const std::shared_ptr<const server>& at);
/// Each in a file of its own.
std::vector<contest> sqlite_contests();

}  // namespace bench
