#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <string>

#include "history/job_history.hpp"
#include "support/slowness.hpp"

// The jobs of a job history, as all hosts have them.

namespace rowlock::test {

inline constexpr int slower = is_sanitized ? 4 : 1;
inline constexpr std::chrono::seconds job_period{2 * slower};
inline constexpr std::chrono::milliseconds job_lease{400 * slower};
inline constexpr int job_retries = 4;

inline std::string name_of_job(int number) { return "job" + std::to_string(number); }

inline job_rules rules_of_jobs() {
  return {.every = std::chrono::microseconds{job_period}.count(), .retries = job_retries};
}

}  // namespace rowlock::test
