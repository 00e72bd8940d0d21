#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <iostream>
#include <sstream>
#include <string>

#include "command/database.hpp"
#include "command/file.hpp"
#include "command/output.hpp"

namespace rowlock::command {

namespace {

// All keys are there even where nothing is known, so that programs need to know one shape only.
json json_of(const std::optional<database_statistics>& found) {
  const auto number = [&](std::uint64_t database_statistics::*of) { return found ? json((*found).*of) : json{}; };
  return {{"up", found.has_value()},
          {"names", number(&database_statistics::names)},
          {"held", number(&database_statistics::held)},
          {"held_by_transaction", number(&database_statistics::held_by_transaction)},
          {"waiters", number(&database_statistics::waiters)},
          {"longest_hold_us", found ? microseconds(found->longest_hold) : json{}},
          {"longest_wait_us", found ? microseconds(found->longest_wait) : json{}}};
}

std::string openmetrics_of(const std::optional<database_statistics>& found) {
  std::ostringstream out;
  write_openmetrics(out, found);
  return out.str();
}

void write(const options& given, const std::optional<database_statistics>& found) {
  const auto text = given.as_json ? text_of(json_of(found)) : openmetrics_of(found);
  if (given.metrics.output.empty())
    std::cout << text;
  else
    replace_file(given.metrics.output, text);
}

}  // namespace

int metrics(const options& given) try {
  write(given, connect(given, [](const event&) {}).database_stats());
  return exit_status::done;
} catch (const error& e) {
  if (status_of(e) == exit_status::usage) throw;
  write(given, std::nullopt);  // a dashboard that finds nothing would go on showing what was
  throw;
}

}  // namespace rowlock::command
