#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "names.hpp"
#include "report.hpp"

namespace bench {

namespace {

/// The threads whose times are drawn.
constexpr std::size_t latency_threads = 64;

constexpr std::string_view settings = R"(set encoding utf8
set terminal svg size 1080,440 font 'sans-serif,13' background '#ffffff' noenhanced
set border 3 linecolor rgb '#444444'
set tics nomirror
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#dddddd'
set lmargin at screen 0.09
set rmargin at screen 0.56
set key at screen 0.58,0.85 left top vertical Left reverse spacing 1.3 samplen 2.5
)";

/// Who it is can be seen from the colour, which of them from the dashes and points.
struct style {
  std::string_view prefix;
  std::string_view colour;
  double width;
};

constexpr style styles[] = {
    {"rowlock ", "#1f5fbf", 2.5}, {"raw ", "#555555", 1.5}, {"Redis ", "#c0392b", 1.5}, {"", "#d98200", 1.5}};

const style& style_of(std::string_view subject) {
  return *std::find_if(std::begin(styles), std::end(styles),
                       [&](const style& each) { return subject.starts_with(each.prefix); });
}

/// Those that look alike are together.
std::ptrdiff_t rank_of(std::string_view subject) { return &style_of(subject) - std::begin(styles); }

/// Single quotes are doubled in gnuplot's.
std::string quoted(const std::string& text) { return "'" + std::regex_replace(text, std::regex{"'"}, "''") + "'"; }

bool is_of_series(const result& one) {
  static const std::regex name{"^cycle, \\d+ threads?, distinct names$"};
  return std::regex_match(one.bench_case, name);
}

/// The results of one subject, in their order.
struct series {
  std::string subject;
  std::vector<result> points{};
};

/// What is not there with many threads is another story.
void keep_those_with_most_threads(std::vector<series>& all) {
  const auto threads = [](const series& one) { return one.points.back().threads; };
  std::size_t most = 0;
  for (const auto& each : all) most = std::max(most, threads(each));
  std::erase_if(all, [&](const series& one) { return threads(one) < most; });
  std::stable_sort(all.begin(), all.end(), [](const series& one, const series& other) {
    return rank_of(one.subject) < rank_of(other.subject);
  });
}

std::vector<series> series_of(const std::vector<result>& results, const std::string& database) {
  std::vector<series> all;
  for (const auto& each : results) {
    if (each.database != database || !is_of_series(each)) continue;
    auto found = std::find_if(all.begin(), all.end(), [&](const series& one) { return one.subject == each.subject; });
    if (found == all.end()) found = all.insert(all.end(), series{each.subject});
    found->points.push_back(each);
  }
  keep_those_with_most_threads(all);
  return all;
}

std::string rounds_of(const std::vector<series>& all) {
  const auto count = all.front().points.back().rounds.size();
  return fmt::format("{} round{}", count, count == 1 ? "" : "s");
}

/// `data` gives the lines of one, `columns` what is drawn of them.
template <class Data>
std::string plot(const std::vector<series>& all, const Data& data, std::string_view columns) {
  std::string blocks;
  std::string lines;
  std::map<std::string_view, int> used;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto& look = style_of(all[at].subject);
    const int number = ++used[look.prefix];
    blocks += fmt::format("$data{} << EOD\n{}EOD\n", at, data(all[at]));
    lines += fmt::format(
        "{}  $data{} {} title {} linecolor rgb '{}' linewidth {} dashtype {} pointtype {} pointsize 0.7",
        at == 0 ? "" : ", \\\n", at, columns, quoted(all[at].subject), look.colour, look.width, number, 4 + number);
  }
  return fmt::format("{}plot \\\n{}\n", blocks, lines);
}

std::string throughput(const std::vector<series>& all, const std::string& database, const std::string& folder) {
  std::set<std::size_t> threads;
  for (const auto& each : all)
    for (const auto& point : each.points) threads.insert(point.threads);
  const auto data = [](const series& one) {
    std::string lines;
    for (const auto& each : one.points) {
      const auto [least, most] = std::minmax_element(each.rounds.begin(), each.rounds.end());
      lines += fmt::format("{} {:.1f} {:.1f} {:.1f}\n", each.threads, each.cycles_per_s, *least, *most);
    }
    return lines;
  };
  return fmt::format(
      "reset\n{}set output {}\nset title {}\nset xlabel 'threads, each with a name of its own'\n"
      "set ylabel 'cycles per second'\nset logscale xy\nset xtics ({})\nset xrange [0.8:{}]\n{}",
      settings, quoted(folder + "/throughput-" + database + ".svg"),
      quoted(fmt::format("{}: lock and unlock; median, least and most of {}", display_name(database), rounds_of(all))),
      fmt::join(threads, ", "), static_cast<double>(*threads.rbegin()) * 1.3,
      plot(all, data, "using 1:2:3:4 with yerrorlines"));
}

std::string latency(const std::vector<series>& all, const std::string& database, const std::string& folder) {
  const auto data = [](const series& one) {
    std::string lines;
    for (const auto& each : one.points)
      if (each.threads == latency_threads)
        lines += fmt::format("1 {:.4f}\n2 {:.4f}\n3 {:.4f}\n4 {:.4f}\n", each.p50_us / 1000, each.p90_us / 1000,
                             each.p99_us / 1000, each.max_us / 1000);
    return lines;
  };
  return fmt::format(
      "reset\n{}set output {}\nset title {}\nset ylabel 'time of a cycle in ms'\nset logscale y\n"
      "set xtics ('half' 1, '90 %%' 2, '99 %%' 3, 'all' 4)\nset xlabel 'that many cycles took no longer'\n"
      "set xrange [0.7:4.3]\n{}",
      settings, quoted(folder + "/latency-" + database + ".svg"),
      quoted(fmt::format("{}: times with {} threads in {}", display_name(database), latency_threads, rounds_of(all))),
      plot(all, data, "using 1:2 with linespoints"));
}

bool has_latency(const std::vector<series>& all) {
  return std::all_of(all.begin(), all.end(), [](const series& one) {
    return std::any_of(one.points.begin(), one.points.end(),
                       [](const result& each) { return each.threads == latency_threads; });
  });
}

}  // namespace

std::string gnuplot_script(const std::vector<result>& results, const std::string& folder) {
  std::string script;
  for (const auto& database : databases_of(results)) {
    const auto all = series_of(results, database);
    if (all.empty()) continue;
    script += throughput(all, database, folder);
    if (has_latency(all)) script += latency(all, database, folder);
  }
  return script;
}

}  // namespace bench
