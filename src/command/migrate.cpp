#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <unistd.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "command/database.hpp"
#include "command/output.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

std::string applied_at(const migration_status& of) { return of.applied_at ? format_time(*of.applied_at) : ""; }

json json_of(const schema_status& found) {
  auto migrations = array_of(found.migrations, [](const migration_status& each) -> json {
    return {{"version", each.version},
            {"file", or_null(each.file)},
            {"state", to_string(each.state)},
            {"applied_at", or_null(applied_at(each))}};
  });
  return {{"applied", found.applied}, {"expected", found.expected},        {"serves_from", found.serves_from},
          {"fits", found.fits},       {"refusal", or_null(found.refusal)}, {"migrations", std::move(migrations)}};
}

void print_lines(const schema_status& found) {
  std::vector<table_line> lines{{"VERSION", "STATE", "APPLIED", "FILE"}};
  for (const auto& each : found.migrations)
    lines.push_back({std::to_string(each.version), std::string{to_string(each.state)}, or_dash(applied_at(each)),
                     or_dash(each.file)});
  write_table(std::cout, lines);
}

int print_status(const options& given, const schema_status& found) {
  if (given.as_json)
    print(json_of(found));
  else
    print_lines(found);
  if (!found.refusal.empty()) say(found.refusal);
  return found.fits ? exit_status::done : exit_status::schema;
}

std::vector<migration_status> missing_of(const schema_status& found) {
  auto missing = found.migrations;
  std::erase_if(missing, [](const migration_status& each) { return each.state != migration_state::pending; });
  return missing;
}

int print_missing(const options& given, const schema_status& found) {
  const auto missing = missing_of(found);
  if (given.as_json)
    print(array_of(missing, [](const migration_status& each) -> json {
      return {{"version", each.version}, {"file", each.file}, {"sql", each.sql}};
    }));
  else
    for (const auto& each : missing) std::cout << each.sql << '\n';
  return exit_status::done;
}

std::string what_was_done(const std::vector<migration_status>& missing) {
  if (missing.empty()) return "the tables were up to date";
  std::string files;
  for (const auto& each : missing) files += (files.empty() ? "" : ", ") + each.file;
  return "the tables are up to date now; applied " + files;
}

}  // namespace

int migrate(const options& given) {
  auto locks = connect(given);
  const auto found = locks.schema_status();
  if (given.wants_status) return print_status(given, found);
  if (!found.refusal.empty()) {
    say(found.refusal);
    return exit_status::schema;
  }
  if (given.is_dry_run) return print_missing(given, found);
  locks.migrate();
  if (given.as_json)
    print(json_of(locks.schema_status()));
  else if (::isatty(STDOUT_FILENO) == 1)
    say(what_was_done(missing_of(found)));
  return exit_status::done;
}

}  // namespace rowlock::command
