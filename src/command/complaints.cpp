#include "command/complaints.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "command/words.hpp"
#include "core/job_options.hpp"

namespace rowlock::command {

namespace {

/// Even if the given value is the default: this strategy has no lease.
void refuse_lease_of_a_transaction(const CLI::App& taking, const run_options& given) {
  if (given.lock.strategy != strategy::for_update) return;
  for (const auto* flag : {"--lease", "--at-least", "--hold-limit"})
    if (taking.count(flag) != 0)
      throw usage_error{
          fmt::format("{} is about a lease, and for_update has none; leave out {}, or choose another "
                      "--strategy",
                      flag, flag)};
}

void refuse_what_cannot_be_shared(const CLI::App& taking, const run_options& given) {
  if (!given.is_shared && given.permits == 0) return;
  const std::string flag = given.is_shared ? "--shared" : "--permits";
  if (given.lock.strategy != strategy::unique_index)
    throw usage_error{flag + " is for unique_index only; leave out --strategy"};
  if (taking.count("--at-least") != 0)
    throw usage_error{"--at-least is for an exclusive lock; leave out --at-least or " + flag};
}

std::string typed(const CLI::App& taking, const std::string& flag, duration otherwise) {
  return taking.count(flag) != 0 ? taking.get_option(flag)->as<std::string>() : bound_in_words(otherwise);
}

/// If rowlock dies, only its lease keeps the name taken.
void refuse_at_least_beyond_the_lease(const CLI::App& taking, const lock_options& lock) {
  if (lock.at_least <= lock.lease) return;
  const auto least = typed(taking, "--at-least", lock.at_least);
  throw usage_error{"--at-least " + least + " is longer than the lease of " + typed(taking, "--lease", lock.lease) +
                    ", after which the name would be free if rowlock died; give --lease " + least + " too"};
}

std::string flag_of(std::string_view option_of_a_job) {
  if (option_of_a_job == "early_by") return "--early";
  if (option_of_a_job == "time_zone") return "--timezone";
  std::string out{"--"};
  for (const char c : option_of_a_job) out.push_back(c == '_' ? '-' : c);
  return out;
}

void refuse_impossible_period(const CLI::App& taking, const run_options& given) {
  if (!given.every) return;
  try {
    core::periods_of(job_of(given), {.name = flag_of, .value = [&](std::string_view option, duration value) {
                                       return typed(taking, flag_of(option), value);
                                     }});
  } catch (const error& e) {
    throw usage_error{e.what()};
  }
}

}  // namespace

void refuse_contradictions(const CLI::App& app, const run_options& given) {
  for (const auto* name : {"run", "hold"}) {
    const auto& taking = *app.get_subcommand(name);
    if (!taking.parsed()) continue;
    refuse_lease_of_a_transaction(taking, given);
    refuse_what_cannot_be_shared(taking, given);
    refuse_at_least_beyond_the_lease(taking, given.lock);
  }
  refuse_impossible_period(*app.get_subcommand("run"), given);
  const auto& sweep = *app.get_subcommand("sweep");
  if (sweep.parsed() && sweep.count("--once") + sweep.count("--every") == 0)
    throw usage_error{
        "neither --once nor --every is given; write: rowlock sweep --once, or rowlock sweep --every DURATION"};
  const auto& release = *app.get_subcommand("release");
  if (release.parsed() && release.count("--force") == 0)
    throw usage_error{
        "a lock is released by its holder, when its command or program has ended; release --force frees it from any "
        "holder"};
}

}  // namespace rowlock::command
