#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdlib>
#include <string>

#include "history/job_history.hpp"
#include "support/slowness.hpp"

// The jobs of a job history, as all hosts have them.

namespace rowlock::test {

/// So many times longer does everything take, also in the processes that are started after that.
inline constexpr const char* pace_of_jobs = "ROWLOCK_TEST_PACE_OF_JOBS";
inline int slower() {
  const char* said = std::getenv(pace_of_jobs);
  return (is_sanitized ? 4 : 1) * (said != nullptr ? std::atoi(said) : 1);
}
inline std::chrono::seconds job_period() { return std::chrono::seconds{2 * slower()}; }
inline std::chrono::milliseconds job_lease() { return std::chrono::milliseconds{400 * slower()}; }
inline constexpr int job_retries = 4;

inline std::string name_of_job(int number) { return "job" + std::to_string(number); }

inline job_rules rules_of_jobs() {
  return {.every = std::chrono::microseconds{job_period()}.count(), .retries = job_retries};
}

}  // namespace rowlock::test
