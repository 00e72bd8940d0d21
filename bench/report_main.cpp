// What the results of the benchmarks look like: the plots and the tables of docs/performance.md.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "report.hpp"

namespace {

template <class Stream>
Stream opened(const std::string& file) {
  Stream stream{file};
  if (!stream) throw std::runtime_error{file + ": cannot be opened"};
  return stream;
}

std::vector<bench::result> results_in(const std::string& file) {
  auto lines = opened<std::ifstream>(file);
  return bench::read_lines(lines);
}

std::string text_in(const std::string& file) {
  auto text = opened<std::ifstream>(file);
  return {std::istreambuf_iterator<char>{text}, {}};
}

void rewrite(const std::string& file, const std::string& text) {
  auto to = opened<std::ofstream>(file);
  if (!(to << text).flush()) throw std::runtime_error{file + ": cannot be written"};
}

void finish(const std::string& folder, const std::vector<bench::result>& results) {
  for (const auto& [name, title] : bench::plot_titles(results)) {
    const auto file = fmt::format("{}/{}", folder, name);
    rewrite(file, bench::finished_plot(text_in(file), title));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  std::string place;
  CLI::App app{"Shows what ./bench.sh --json wrote", "rowlock_bench_report"};
  app.require_subcommand(1);
  auto* const plots = app.add_subcommand("plots", "Writes a script for gnuplot, which draws SVG files into a folder");
  plots->add_option("results", file, "What ./bench.sh --json wrote")->required();
  plots->add_option("folder", place, "Where gnuplot puts them")->required();
  auto* const finishing = app.add_subcommand("finish", "Gives what gnuplot drew its titles and dark colours");
  finishing->add_option("results", file, "What ./bench.sh --json wrote")->required();
  finishing->add_option("folder", place, "Where gnuplot put them")->required();
  auto* const tables = app.add_subcommand("tables", "Makes the generated tables of a page anew");
  tables->add_option("results", file, "What ./bench.sh --json wrote")->required();
  tables->add_option("page", place, "The page; see bench/report.hpp for how a table is marked")->required();
  auto* const against = app.add_subcommand("against", "Compares the results of two builds that were measured by turns");
  against->add_option("results", file, "What was measured of the one")->required();
  against->add_option("others", place, "What was measured of the other")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto results = results_in(file);
    if (against->parsed()) fmt::print("{}", bench::ours_beside_theirs(results, results_in(place)));
    if (plots->parsed()) fmt::print("{}", bench::gnuplot_script(results, place));
    if (finishing->parsed()) finish(place, results);
    if (tables->parsed()) rewrite(place, bench::with_tables(text_in(place), results));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "rowlock_bench_report: {}\n", e.what());
    return 1;
  }
}
