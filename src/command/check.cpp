#include "command/subcommands.hpp"

#include <fmt/format.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "command/database.hpp"
#include "command/measure.hpp"
#include "command/output.hpp"

namespace rowlock::command {

namespace {

struct diagnosis {
  std::vector<finding> findings{};
  int status = exit_status::done;
};

/// By the first failure, which is likely to be the cause of the others.
int status_by(const std::vector<finding>& findings) {
  for (const auto& each : findings) {
    if (each.condition != condition::failed) continue;
    if (each.subject == "privileges") return exit_status::no_permission;
    return each.subject == "schema" ? exit_status::schema : exit_status::out_of_reach;
  }
  return exit_status::done;
}

diagnosis without_database(const error& e) {
  const auto* const culprit = e.code() == errc::schema_missing ? "schema" : "connection";
  diagnosis out{.status = status_of(e)};
  for (const std::string subject : {"connection", "schema", "privileges", "clock", "log settings", "cluster"})
    if (subject == culprit)
      out.findings.push_back({subject, condition::failed, e.what()});
    else
      out.findings.push_back({subject, condition::unknown, "not checked"});
  return out;
}

// The observer is silent: the findings include the warnings about settings.
diagnosis diagnose_database(const options& given) try {
  auto findings = connect(given, [](const event&) {}).diagnose();
  const int status = status_by(findings);
  return {.findings = std::move(findings), .status = status};
} catch (const error& e) {
  if (status_of(e) == exit_status::usage) throw;
  return without_database(e);
}

diagnosis diagnose(const options& given) {
  auto out = diagnose_database(given);
  if (const auto sentence = advice_about_file(given))
    out.findings.push_back({"password", condition::advice, *sentence});
  return out;
}

json findings_in_json(const std::vector<finding>& findings) {
  auto all = json::array();
  for (const auto& each : findings)
    all.push_back({{"subject", each.subject},
                   {"condition", to_string(each.condition)},
                   {"sentence", in_words_of_the_shell(each.sentence)}});
  return all;
}

void print_lines(const std::vector<finding>& findings) {
  std::vector<table_line> lines;
  for (const auto& each : findings)
    lines.push_back({each.subject, std::string{to_string(each.condition)}, in_words_of_the_shell(each.sentence)});
  write_table(std::cout, lines);
}

json measured_in_json(const measurement& of) {
  auto cycles = json::array();
  for (const auto& each : of.cycles)
    cycles.push_back({{"commits", each.commits},
                      {"threads", each.threads},
                      {"per_second", std::llround(each.per_second)},
                      {"median_us", microseconds(each.both)}});
  return {{"read_us", microseconds(of.read)},
          {"acquire_us", microseconds(of.cycles.front().acquire)},
          {"release_us", microseconds(of.cycles.front().release)},
          {"cycles", std::move(cycles)}};
}

void print_lines(const measurement& of) {
  const auto in_milliseconds = [](duration d) {
    return fmt::format("{:.2f} ms", std::chrono::duration<double, std::milli>(d).count());
  };
  std::vector<table_line> lines{{"", "median", "per second"},
                                {"read", in_milliseconds(of.read), ""},
                                {"acquire", in_milliseconds(of.cycles.front().acquire), ""},
                                {"release", in_milliseconds(of.cycles.front().release), ""}};
  for (const auto& each : of.cycles)
    lines.push_back({fmt::format("cycles, {} thread{}, {}", each.threads, each.threads == 1 ? "" : "s", each.commits),
                     in_milliseconds(each.both), fmt::format("{:.0f}", each.per_second)});
  std::cout << '\n';
  write_table(std::cout, lines);
}

}  // namespace

int check(const options& given) {
  const auto [findings, status] = diagnose(given);
  const bool measures = given.check.measures && status == exit_status::done;
  if (!given.as_json) {
    print_lines(findings);
    std::cout << std::flush;
    if (measures) print_lines(measure(given));
  } else if (given.check.measures) {
    print(
        {{"findings", findings_in_json(findings)}, {"measured", measures ? measured_in_json(measure(given)) : json{}}});
  } else {
    print(findings_in_json(findings));
  }
  return status;
}

}  // namespace rowlock::command
