#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "names.hpp"
#include "report.hpp"

namespace bench {

namespace {

using cells = std::vector<std::string>;

std::string line_of(const cells& all) { return fmt::format("| {} |\n", fmt::join(all, " | ")); }

std::string table_of(const cells& head, const std::vector<cells>& rows) {
  std::string text = line_of(head) + line_of(cells(head.size(), "---"));
  for (const auto& each : rows) text += line_of(each);
  return text;
}

/// With commas between thousands.
std::string whole_number(double number) {
  const auto digits = fmt::format("{:.0f}", number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

/// With as many digits as mean something.
std::string number_of(double number) {
  if (number >= 100) return whole_number(number);
  return fmt::format("{:.{}f}", number, number >= 10 ? 1 : 2);
}

std::string unless_nothing(double number) { return number > 0 ? number_of(number) : ""; }

/// Three digits, or all of a whole number.
std::string in_ms(double us) {
  const double ms = us / 1000;
  if (us <= 0) return "";
  if (ms >= 1000) return whole_number(ms);
  if (ms >= 0.0001) return fmt::format("{:.3g}", ms);
  return fmt::format("{:.6f}", ms);
}

bool is_of_redis(const result& one) { return one.subject.starts_with("Redis "); }

/// Redis is measured in turns with each database.
std::string database_of(const result& one) { return is_of_redis(one) ? "Redis" : display_name(one.database); }

/// A subject has '|' nowhere, but may one day.
std::string escaped(const std::string& text) { return std::regex_replace(text, std::regex{"\\|"}, "\\|"); }

/// Of several cases in one table each tells which it is.
bool has_several_cases(const std::vector<result>& results) {
  return std::any_of(results.begin(), results.end(),
                     [&](const result& each) { return each.bench_case != results.front().bench_case; });
}

cells beginning(const result& of, bool with_case) {
  cells row{database_of(of)};
  if (with_case) row.push_back(escaped(of.bench_case));
  row.push_back(escaped(of.subject));
  return row;
}

cells head_of(bool with_case, const cells& more) {
  cells head{"database"};
  if (with_case) head.emplace_back("case");
  head.emplace_back("subject");
  head.insert(head.end(), more.begin(), more.end());
  return head;
}

std::string threads_table(const std::vector<result>& results) {
  std::set<std::size_t> threads;
  for (const auto& each : results) threads.insert(each.threads);
  cells head{"database", "cycles/s with so many threads"};
  for (const auto each : threads) head.push_back(fmt::format("{}", each));
  head.insert(head.end(), {"connections", "statements a cycle"});
  std::vector<cells> rows;
  for (const auto& database : databases_of(results)) {
    std::vector<std::string> subjects;
    for (const auto& each : results)
      if (each.database == database && std::find(subjects.begin(), subjects.end(), each.subject) == subjects.end())
        subjects.push_back(each.subject);
    for (const auto& subject : subjects) {
      cells row{"", escaped(subject)};
      const result* last = nullptr;
      for (const auto count : threads) {
        const auto found = std::find_if(results.begin(), results.end(), [&](const result& each) {
          return each.database == database && each.subject == subject && each.threads == count;
        });
        row.push_back(found == results.end() ? "" : whole_number(found->cycles_per_s));
        if (found != results.end()) last = &*found;
      }
      row.front() = database_of(*last);
      row.push_back(fmt::format("{}", last->needs.connections));
      row.push_back(number_of(last->needs.statements_per_cycle));
      rows.push_back(std::move(row));
    }
  }
  return table_of(head, rows);
}

std::string rates_table(const std::vector<result>& results) {
  const bool with_case = has_several_cases(results);
  std::vector<cells> rows;
  for (const auto& each : results) {
    auto row = beginning(each, with_case);
    row.insert(row.end(), {whole_number(each.cycles_per_s), number_of(each.ratio), in_ms(each.p50_us),
                           in_ms(each.p90_us), in_ms(each.p99_us), in_ms(each.max_us),
                           each.slowest_share ? fmt::format("{:.2f}", *each.slowest_share) : "",
                           each.needs.connections > 0 ? fmt::format("{}", each.needs.connections) : "",
                           unless_nothing(each.needs.statements_per_cycle), unless_nothing(each.busy_cores)});
    rows.push_back(std::move(row));
  }
  return table_of(head_of(with_case, {"cycles/s", "relative time", "p50 ms", "p90 ms", "p99 ms", "max ms",
                                      "slowest thread", "connections", "statements a cycle", "busy cores"}),
                  rows);
}

std::string ratios_table(const std::vector<result>& results) {
  const auto databases = databases_of(results);
  cells head{"case", "subject", "beside"};
  for (const auto& each : databases) head.push_back(display_name(each));
  std::vector<cells> rows;
  std::set<std::string> done;
  for (const auto& one : results) {
    // A baseline may be written differently for each database.
    if (one.subject == one.baseline || !done.insert(one.bench_case + '\n' + one.subject).second) continue;
    cells row{escaped(one.bench_case), escaped(one.subject), escaped(one.baseline)};
    for (const auto& database : databases) {
      const auto found = std::find_if(results.begin(), results.end(), [&](const result& each) {
        return each.database == database && each.bench_case == one.bench_case && each.subject == one.subject;
      });
      row.push_back(
          found == results.end() ? "" : fmt::format("{} (p50 {} ms)", number_of(found->ratio), in_ms(found->p50_us)));
    }
    rows.push_back(std::move(row));
  }
  return table_of(head, rows);
}

std::string figures_table(const std::vector<result>& results) {
  const bool with_case = has_several_cases(results);
  std::set<std::string> names;
  for (const auto& each : results)
    for (const auto& [name, number] : each.figures) names.insert(name);
  std::vector<cells> rows;
  for (const auto& each : results) {
    auto row = beginning(each, with_case);
    row.push_back(each.rounds.empty() ? "" : whole_number(each.cycles_per_s));
    for (const auto& name : names) {
      const auto found = each.figures.find(name);
      row.push_back(found == each.figures.end() ? "" : number_of(found->second));
    }
    rows.push_back(std::move(row));
  }
  cells more{"cycles/s"};
  more.insert(more.end(), names.begin(), names.end());
  return table_of(head_of(with_case, more), rows);
}

using make_table = std::string (*)(const std::vector<result>& results);

make_table kind_of(const std::string& name) {
  static const std::map<std::string, make_table> kinds{
      {"threads", threads_table}, {"rates", rates_table}, {"ratios", ratios_table}, {"figures", figures_table}};
  const auto found = kinds.find(name);
  if (found == kinds.end()) throw std::invalid_argument{fmt::format("there is no kind of table named {}", name)};
  return found->second;
}

/// Those of Redis after the others of their run.
std::vector<result> matching(const std::vector<result>& results, const std::string& pattern) {
  const std::regex wanted{pattern};
  std::vector<result> found;
  for (const auto& each : results)
    if (std::regex_search(each.bench_case, wanted)) found.push_back(each);
  const auto databases = databases_of(found);
  const auto place = [&](const result& one) {
    return std::pair{std::find(databases.begin(), databases.end(), one.database), is_of_redis(one)};
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const result& one, const result& other) { return place(one) < place(other); });
  return found;
}

/// What is between the marks of a block.
std::string content(std::string_view before, const std::string& kind, const std::string& pattern,
                    const std::vector<result>& results) {
  const auto table = kind_of(kind);
  const auto found = matching(results, pattern);
  return found.empty() ? std::string{before} : fmt::format("\n\n{}\n", table(found));
}

}  // namespace

std::string display_name(std::string_view database) {
  static const std::map<std::string_view, std::string_view> names{
      {"postgresql", "PostgreSQL"}, {"mariadb", "MariaDB"}, {"mysql", "MySQL"}, {"sqlite", "SQLite"}};
  const auto found = names.find(database);
  return std::string{found == names.end() ? database : found->second};
}

std::vector<std::string> databases_of(const std::vector<result>& results) {
  std::vector<std::string> all;
  for (const auto& each : results)
    if (std::find(all.begin(), all.end(), each.database) == all.end()) all.push_back(each.database);
  return all;
}

std::string ours_beside_theirs(const std::vector<result>& ours, const std::vector<result>& theirs) {
  std::map<cells, std::vector<double>> ratios;
  std::vector<cells> order;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto name = beginning(ours[i], true);
    if (i >= theirs.size() || beginning(theirs[i], true) != name)
      throw std::invalid_argument{fmt::format("{}: not measured of both", fmt::join(name, ", "))};
    if (!ratios.contains(name)) order.push_back(name);
    ratios[name].push_back(ours[i].cycles_per_s / theirs[i].cycles_per_s);
  }
  std::vector<cells> rows;
  for (auto& row : order) {
    const auto& all = ratios[row];
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    rows.push_back(row);
    rows.back().insert(rows.back().end(), {fmt::format("{:.3f}", median(all)), fmt::format("{:.3f}", *least),
                                           fmt::format("{:.3f}", *most)});
  }
  return table_of(head_of(true, {"relative rate", "least", "most"}), rows);
}

std::string with_tables(std::string_view page, const std::vector<result>& results) {
  static const std::regex begin{"<!-- bench (\\w+): (.+) -->"};
  constexpr std::string_view end = "<!-- bench end -->";
  std::string made;
  for (std::cmatch found; std::regex_search(page.data(), page.data() + page.size(), found, begin);) {
    const auto start = static_cast<std::size_t>(found[0].second - page.data());
    const auto stop = page.find(end, start);
    if (stop == std::string_view::npos) throw std::invalid_argument{fmt::format("{} has no end", found.str())};
    made += page.substr(0, start);
    made += content(page.substr(start, stop - start), found.str(1), found.str(2), results);
    made += end;
    page.remove_prefix(stop + end.size());
  }
  return made + std::string{page};
}

}  // namespace bench
