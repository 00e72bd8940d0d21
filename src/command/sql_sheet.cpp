#include "command/subcommands.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "command/database.hpp"
#include "driver/passages.hpp"

namespace rowlock::command {

namespace {

std::vector<sheets::passage> passages(const options& given) {
  return driver::passages_for(database_url(given), {.transaction_pooling = given.sql.transaction_pooling,
                                                    .durable_release = given.sql.durable_release,
                                                    .table_prefix = given.table_prefix});
}

[[noreturn]] void refuse(const std::string& verb, const std::vector<sheets::passage>& all) {
  std::vector<std::string_view> names;
  for (const auto& each : all)
    if (!each.name.empty()) names.push_back(each.name);
  const auto advice = base::did_you_mean(verb, names);
  throw usage_error{"there is no verb " + base::quoted(verb) +
                    (advice.empty() ? "; rowlock sql prints all of them" : advice)};
}

/// The introduction and this verb.
std::vector<sheets::passage> only(const std::string& verb, const std::vector<sheets::passage>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == verb; });
  if (verb.empty() || found == all.end()) refuse(verb, all);
  return {all.front(), *found};
}

}  // namespace

int print_sql(const options& given) {
  const auto all = passages(given);
  std::string_view separator;
  for (const auto& each : given.sql.verb ? only(*given.sql.verb, all) : all) {
    std::cout << separator << each.text;
    separator = "\n";
  }
  return exit_status::done;
}

}  // namespace rowlock::command
