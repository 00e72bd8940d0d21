#include "report.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {
namespace {

result cycle(const std::string& subject, std::size_t threads, double rate) {
  return {
      .bench_case = "cycle, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") + ", distinct names",
      .database = "postgresql",
      .subject = subject,
      .threads = threads,
      .cycles_per_s = rate,
      .rounds = {rate - 1, rate, rate + 2},
      .p50_us = 500,
      .p90_us = 900,
      .p99_us = 1500,
      .max_us = 25000,
      .baseline = "raw upsert+update",
      .ratio = 0.5,
      .slowest_share = 0.75,
      .needs = {.connections = 8, .statements_per_cycle = 2}};
}

std::vector<result> two_subjects() {
  return {cycle("raw upsert+update", 1, 1000), cycle("rowlock mutex", 1, 1100), cycle("rowlock unique_index", 1, 2000),
          cycle("raw upsert+update", 64, 12345), cycle("rowlock unique_index", 64, 1234567)};
}

TEST(bench_results, come_back_from_their_lines) {
  auto one = cycle("raw upsert+update", 8, 1000.5);
  one.figures["rows"] = 3;
  auto other = cycle("rowlock unique_index", 8, 2000);
  other.slowest_share.reset();
  std::stringstream lines;
  write_lines(lines, {one, other});

  const auto back = read_lines(lines);

  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].subject, "raw upsert+update");
  EXPECT_EQ(back[0].threads, 8U);
  EXPECT_EQ(back[0].cycles_per_s, 1000.5);
  EXPECT_EQ(back[0].rounds, one.rounds);
  EXPECT_EQ(back[0].slowest_share, 0.75);
  EXPECT_EQ(back[0].figures.at("rows"), 3);
  EXPECT_EQ(back[1].slowest_share, std::nullopt);
  EXPECT_EQ(back[1].ratio, 0.5);
}

TEST(bench_tables, have_a_column_for_each_number_of_threads) {
  const auto page =
      with_tables("before\n<!-- bench threads: ^cycle, -->\nold\n<!-- bench end -->\nafter\n", two_subjects());

  EXPECT_EQ(page,
            "before\n<!-- bench threads: ^cycle, -->\n\n"
            "| database | cycles/s with so many threads | 1 | 64 | connections | statements a cycle |\n"
            "| --- | --- | --- | --- | --- | --- |\n"
            "| PostgreSQL | raw upsert+update | 1,000 | 12,345 | 8 | 2.00 |\n"
            "| PostgreSQL | rowlock mutex | 1,100 |  | 8 | 2.00 |\n"
            "| PostgreSQL | rowlock unique_index | 2,000 | 1,234,567 | 8 | 2.00 |\n"
            "\n<!-- bench end -->\nafter\n");
}

TEST(bench_tables, show_the_rates_of_the_cases_that_match) {
  const auto page = with_tables("<!-- bench rates: ^cycle, 64 -->\n<!-- bench end -->", two_subjects());

  EXPECT_NE(
      page.find("| PostgreSQL | rowlock unique_index | 1,234,567 | 0.50 | 0.5 | 0.9 | 1.5 | 25 | 0.75 | 8 | 2.00 |"),
      std::string::npos)
      << page;
  EXPECT_EQ(page.find("mutex"), std::string::npos) << page;
}

TEST(bench_tables, write_times_without_exponents) {
  auto one = cycle("raw SELECT 1", 1, 1000);
  one.p50_us = 0.09;
  one.max_us = 1534567;

  const auto page = with_tables("<!-- bench rates: ^cycle -->\n<!-- bench end -->", {one});

  EXPECT_NE(page.find("| 0.50 | 0.000090 | 0.9 | 1.5 | 1,535 |"), std::string::npos) << page;
}

TEST(bench_tables, name_redis_after_the_database_that_it_took_turns_with) {
  const std::vector<result> results{cycle("raw upsert+update", 1, 1000), cycle("Redis SET NX PX", 1, 3000),
                                    cycle("rowlock unique_index", 1, 2000)};

  for (const auto* const kind : {"rates", "threads"}) {
    const auto page = with_tables(std::string{"<!-- bench "} + kind + ": ^cycle -->\n<!-- bench end -->", results);

    const auto ours = page.find("| PostgreSQL | rowlock unique_index |");
    const auto theirs = page.find("| Redis | Redis SET NX PX |");
    EXPECT_NE(ours, std::string::npos) << page;
    EXPECT_NE(theirs, std::string::npos) << page;
    EXPECT_LT(ours, theirs) << page;
  }
}

TEST(bench_tables, compare_databases_with_the_baseline) {
  auto results = two_subjects();
  results.push_back(results.back());
  results.back().database = "sqlite";
  results.back().ratio = 1.25;

  const auto page = with_tables("<!-- bench ratios: ^cycle, 64 -->\n<!-- bench end -->", results);

  EXPECT_NE(page.find("| case | subject | beside | PostgreSQL | SQLite |\n"), std::string::npos) << page;
  EXPECT_NE(page.find("| rowlock unique_index | raw upsert+update | 0.50 (p50 0.5 ms) | 1.25 (p50 0.5 ms) |\n"),
            std::string::npos)
      << page;
}

TEST(bench_tables, show_figures_of_a_case_without_rates) {
  const result of_memory{.bench_case = "memory",
                         .database = "mariadb",
                         .subject = "rowlock unique_index",
                         .figures = {{"held lock: heap, bytes", 505.4}}};

  const auto page = with_tables("<!-- bench figures: ^memory -->\n<!-- bench end -->", {of_memory});

  EXPECT_NE(page.find("| database | subject | cycles/s | held lock: heap, bytes |\n"), std::string::npos) << page;
  EXPECT_NE(page.find("| MariaDB | rowlock unique_index |  | 505 |\n"), std::string::npos) << page;
}

TEST(bench_tables, stay_where_nothing_was_measured) {
  const std::string page = "<!-- bench rates: ^sweep -->\nkept\n<!-- bench end -->\n";
  EXPECT_EQ(with_tables(page, two_subjects()), page);
}

TEST(bench_tables, need_an_end_and_a_known_kind) {
  EXPECT_THROW(with_tables("<!-- bench rates: ^cycle -->\n", two_subjects()), std::invalid_argument);
  EXPECT_THROW(with_tables("<!-- bench guess: ^cycle -->\n<!-- bench end -->", two_subjects()), std::invalid_argument);
}

TEST(bench_comparison, is_of_what_was_measured_in_the_same_turn) {
  const auto with = [](double rate) { return cycle("rowlock unique_index", 1, rate); };

  const auto table = ours_beside_theirs({with(900), with(2200), with(1000)}, {with(1000), with(2000), with(1000)});

  EXPECT_EQ(table,
            "| database | case | subject | relative rate | least | most |\n| --- | --- | --- | --- | --- | --- |\n"
            "| PostgreSQL | cycle, 1 thread, distinct names | rowlock unique_index | 1.000 | 0.900 | 1.100 |\n");
  EXPECT_THROW(ours_beside_theirs({with(1)}, {cycle("rowlock mutex", 1, 1)}), std::invalid_argument);
  EXPECT_THROW(ours_beside_theirs({with(1)}, {}), std::invalid_argument);
}

TEST(bench_plots, draw_what_goes_up_to_the_most_threads) {
  const auto script = gnuplot_script(two_subjects(), "images");

  EXPECT_NE(script.find("set output 'images/throughput-postgresql.svg'"), std::string::npos) << script;
  EXPECT_NE(script.find("set output 'images/latency-postgresql.svg'"), std::string::npos) << script;
  EXPECT_NE(script.find("1 2000.0 1999.0 2002.0\n64 1234567.0 1234566.0 1234569.0\n"), std::string::npos) << script;
  EXPECT_NE(script.find("1 0.5000\n2 0.9000\n3 1.5000\n4 25.0000\n"), std::string::npos) << script;
  EXPECT_EQ(script.find("mutex"), std::string::npos) << script;
}

TEST(bench_plots, have_titles_and_colours_for_dark_pages) {
  const std::string drawn =
      "<svg>\n<title>Gnuplot</title>\n<desc>Produced by GNUPLOT</desc>\n<g "
      "color=\"black\"><title>gnuplot_plot_1</title>"
      "<path stroke='rgb( 31,  95, 191)' d='M1,1'/></g></svg>\n";
  const auto titles = plot_titles(two_subjects());

  ASSERT_EQ(titles.count("throughput-postgresql.svg"), 1U);
  const auto finished = finished_plot(drawn, titles.at("throughput-postgresql.svg"));

  EXPECT_NE(finished.find("<title>PostgreSQL: lock and unlock; median, least and most of 3 rounds</title>\n<style>"),
            std::string::npos)
      << finished;
  EXPECT_NE(finished.find("<g color='#000000'><path stroke='#1f5fbf' d='M1,1'/></g>"), std::string::npos) << finished;
  EXPECT_NE(finished.find("[stroke='#1f5fbf'] { stroke: #74aaff; }"), std::string::npos) << finished;
  EXPECT_NE(finished.find("[color='#000000'] { color: #e4e6ea; }"), std::string::npos) << finished;
}

TEST(bench_plots, leave_out_times_that_were_not_measured) {
  const auto script = gnuplot_script({cycle("raw upsert+update", 1, 1000)}, "images");

  EXPECT_NE(script.find("throughput-postgresql.svg"), std::string::npos) << script;
  EXPECT_EQ(script.find("latency"), std::string::npos) << script;
}

}  // namespace
}  // namespace bench
