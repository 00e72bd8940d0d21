#include "core/job_options.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "core/checks.hpp"

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;

namespace {

void require(bool fine, const std::string& sentence) {
  if (!fine) throw error{errc::invalid_option, sentence};
}

void check_runs(const job_options& options, const wording& in) {
  require(options.retries >= 0 && options.retries <= 1'000'000,
          in.name("retries") + " is " + std::to_string(options.retries) + "; it must be between 0 and 1000000");
  require(options.retry_wait >= 0s && options.retry_wait <= 24h * 366,
          in.given("retry_wait", options.retry_wait) + "; it must be between 0 and 366 days");
  if (!options.timeout) return;
  require(*options.timeout >= 1ms, in.given("timeout", *options.timeout) + "; it must be at least 1 ms");
  require(
      *options.timeout <= options.every,
      in.given("timeout", *options.timeout) + ", which is longer than a period: " + in.given("every", options.every));
}

void check_early_by(const job_options& options, const wording& in) {
  if (!options.early_by) return;
  require(*options.early_by >= 0s, in.given("early_by", *options.early_by) + "; it must be 0 or more");
  require(*options.early_by <= options.every / 2,
          in.given("early_by", *options.early_by) +
              ", which is longer than half a period: " + in.given("every", options.every));
}

}  // namespace

schedule periods_of(const job_options& options, const wording& in) {
  check(options.lock);
  require(!options.lock.as, "each run of a job is a holder of its own; leave the option as out");
  if (options.lock.strategy == strategy::for_update)
    throw error{errc::unsupported,
                "the run of a job is recorded under a lease, and for_update has none; choose unique_index or "
                "version_cas"};
  schedule out{options.every, options.at, options.time_zone, in};
  check_runs(options, in);
  check_early_by(options, in);
  return out;
}

duration early_by(const job_options& options) {
  return options.early_by.value_or(std::min<duration>(options.every / 10, 5min));
}

}  // namespace rowlock::inline v1::core
