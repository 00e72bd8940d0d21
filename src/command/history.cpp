#include <rowlock/rowlock.hpp>

#include <cstddef>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/job_runs.hpp"
#include "command/output.hpp"
#include "command/subcommands.hpp"

namespace rowlock::command {

namespace {

/// Leaves the first `most` of the runs of each job that have failed.
void leave_failed(std::vector<job_run>& runs, std::size_t most) {
  std::map<std::string, std::size_t, std::less<>> left;
  std::erase_if(runs,
                [&](const job_run& each) { return !has_failed(each) || ++left[std::string{each.job.view()}] > most; });
}

}  // namespace

int history(const options& given) {
  auto locks = connect(given);
  const auto& [last, only_failed] = given.history;
  auto runs = last_runs(locks, given.name, last, only_failed ? runs_of::each_result : runs_of::any_result);
  if (only_failed) leave_failed(runs, last);
  if (given.as_json)
    print(json_of(runs));
  else if (runs.empty())
    say(given.name.empty() ? "no run is recorded" : "no run of " + base::quoted(given.name) + " is recorded");
  else
    write(std::cout, runs);
  return runs.empty() ? exit_status::none : exit_status::done;
}

}  // namespace rowlock::command
