#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
set terminal svg size 760,570 font 'sans-serif,15' background '#ffffff' noenhanced
set border 3 linecolor rgb '#444444'
set tics nomirror
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#dddddd'
set lmargin at screen 0.15
set rmargin at screen 0.97
set bmargin at screen 0.36
set key at screen 0.02,0.23 left top vertical maxrows 4 Left reverse spacing 1.25 samplen 2 width -8 font ',14'
set ytics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10, '100' 100, '1,000' 1e3, '10,000' 1e4, '100,000' 1e5, '1,000,000' 1e6)
)";

/// A colour on white, and what takes its place where the reader prefers dark pages.
struct colour {
  std::string_view light;
  std::string_view dark;
};

constexpr colour ground[] = {
    {"#ffffff", "#1e2129"}, {"#000000", "#e4e6ea"}, {"#444444", "#b8bcc6"}, {"#dddddd", "#3a3f4c"}};

/// The kind of a subject can be seen from the colour, the subject from the dashes and points.
struct style {
  std::string_view prefix;
  colour line;
  double width;
};

constexpr style styles[] = {{"rowlock ", {"#1f5fbf", "#74aaff"}, 2.5},
                            {"raw ", {"#555555", "#c2c2c2"}, 1.5},
                            {"Redis ", {"#c0392b", "#ff8878"}, 1.5},
                            {"", {"#d98200", "#ffb547"}, 1.5}};

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
        at == 0 ? "" : ", \\\n", at, columns, quoted(all[at].subject), look.line.light, look.width, number, 4 + number);
  }
  return fmt::format("{}plot \\\n{}\n", blocks, lines);
}

/// From a power of ten to another.
std::string decades(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("set logscale y\nset yrange [1e{:.0f}:1e{:.0f}]\n", std::floor(std::log10(*least)),
                     std::ceil(std::log10(*most)));
}

/// One picture.
struct drawing {
  std::string name;
  std::string title;
  std::string body;
};

drawing throughput(const std::vector<series>& all, const std::string& database) {
  std::set<std::size_t> threads;
  std::vector<double> rates;
  for (const auto& each : all)
    for (const auto& point : each.points) {
      threads.insert(point.threads);
      rates.insert(rates.end(), point.rounds.begin(), point.rounds.end());
    }
  const auto data = [](const series& one) {
    std::string lines;
    for (const auto& each : one.points) {
      const auto [least, most] = std::minmax_element(each.rounds.begin(), each.rounds.end());
      lines += fmt::format("{} {:.1f} {:.1f} {:.1f}\n", each.threads, each.cycles_per_s, *least, *most);
    }
    return lines;
  };
  return {"throughput-" + database,
          fmt::format("{}: lock and unlock; median, least and most of {}", display_name(database), rounds_of(all)),
          fmt::format("set xlabel 'threads, each with a name of its own'\nset ylabel 'cycles per second'\n"
                      "set logscale x\nset xtics ({})\nset xrange [0.8:{}]\n{}{}",
                      fmt::join(threads, ", "), static_cast<double>(*threads.rbegin()) * 1.3, decades(rates),
                      plot(all, data, "using 1:2:3:4 with yerrorlines"))};
}

drawing latency(const std::vector<series>& all, const std::string& database) {
  std::vector<double> times;
  for (const auto& each : all)
    for (const auto& point : each.points)
      if (point.threads == latency_threads) times.insert(times.end(), {point.p50_us / 1000, point.max_us / 1000});
  const auto data = [](const series& one) {
    std::string lines;
    for (const auto& each : one.points)
      if (each.threads == latency_threads)
        lines += fmt::format("1 {:.4f}\n2 {:.4f}\n3 {:.4f}\n4 {:.4f}\n", each.p50_us / 1000, each.p90_us / 1000,
                             each.p99_us / 1000, each.max_us / 1000);
    return lines;
  };
  return {
      "latency-" + database,
      fmt::format("{}: time of a cycle with {} threads, {}", display_name(database), latency_threads, rounds_of(all)),
      fmt::format("set ylabel 'milliseconds'\n"
                  "set xtics ('50 %%' 1, '90 %%' 2, '99 %%' 3, 'all' 4)\nset xlabel 'cycles that took no longer'\n"
                  "set xrange [0.7:4.3]\n{}{}",
                  decades(times), plot(all, data, "using 1:2 with linespoints"))};
}

bool has_latency(const std::vector<series>& all) {
  return std::all_of(all.begin(), all.end(), [](const series& one) {
    return std::any_of(one.points.begin(), one.points.end(),
                       [](const result& each) { return each.threads == latency_threads; });
  });
}

std::vector<drawing> drawings_of(const std::vector<result>& results) {
  std::vector<drawing> drawings;
  for (const auto& database : databases_of(results)) {
    const auto all = series_of(results, database);
    if (all.empty()) continue;
    drawings.push_back(throughput(all, database));
    if (has_latency(all)) drawings.push_back(latency(all, database));
  }
  return drawings;
}

/// gnuplot writes a colour in several ways.
std::string with_plain_colours(const std::string& svg) {
  static const std::regex mixed{R"(['"]rgb\( *(\d+), *(\d+), *(\d+)\)['"])"};
  std::string plain;
  auto rest = svg.cbegin();
  for (std::sregex_iterator found{svg.begin(), svg.end(), mixed}, end; found != end; ++found) {
    const auto part = [&](std::size_t at) { return std::stoi(found->str(at)); };
    plain.append(rest, (*found)[0].first);
    plain += fmt::format("'#{:02x}{:02x}{:02x}'", part(1), part(2), part(3));
    rest = (*found)[0].second;
  }
  plain.append(rest, svg.cend());
  return std::regex_replace(plain, std::regex{R"(['"]black['"])"}, "'#000000'");
}

std::string dark_style() {
  std::string rules;
  const auto add = [&](const colour& one) {
    for (const auto* const each : {"fill", "stroke", "color"})
      rules += fmt::format("    [{0}='{1}'] {{ {0}: {2}; }}\n", each, one.light, one.dark);
  };
  for (const auto& each : ground) add(each);
  for (const auto& each : styles) add(each.line);
  return fmt::format("<style>\n  @media (prefers-color-scheme: dark) {{\n{}  }}\n</style>\n", rules);
}

}  // namespace

std::string gnuplot_script(const std::vector<result>& results, const std::string& folder) {
  std::string script;
  for (const auto& each : drawings_of(results))
    script += fmt::format("reset\n{}set output {}\nset title {}\n{}", settings,
                          quoted(folder + "/" + each.name + ".svg"), quoted(each.title), each.body);
  return script;
}

std::map<std::string, std::string> plot_titles(const std::vector<result>& results) {
  std::map<std::string, std::string> titles;
  for (const auto& each : drawings_of(results)) titles.emplace(each.name + ".svg", each.title);
  return titles;
}

std::string finished_plot(const std::string& svg, const std::string& title) {
  auto plain = with_plain_colours(svg);
  plain = std::regex_replace(plain, std::regex{"<title>gnuplot_plot_\\w+</title>"}, "");
  plain = std::regex_replace(plain, std::regex{"[ \t]+\n"}, "\n");
  return std::regex_replace(plain, std::regex{"<title>[^<]*</title>\\s*<desc>[^<]*</desc>\n"},
                            "<title>" + title + "</title>\n" + dark_style(), std::regex_constants::format_first_only);
}

}  // namespace bench
