#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rowlock/openmetrics.hpp>

#include <chrono>
#include <fstream>
#include <locale>
#include <map>
#include <optional>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/openmetrics.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using test::openmetrics;

template <class Statistics>
std::string text_of(const Statistics& of) {
  std::ostringstream out;
  write_openmetrics(out, of);
  return out.str();
}

histogram some_durations() {
  histogram out;
  out.counts.front() = 3;
  out.counts.at(3) = 2;
  out.counts.back() = 1;
  out.sum = 3h + 1500us;
  return out;
}

client_statistics busy_client() {
  client_statistics out;
  for (const auto s : {strategy::unique_index, strategy::for_update, strategy::version_cas})
    out.strategies.push_back({.strategy = s, .acquired = 6, .busy = 2, .waits = some_durations()});
  out.losses = {{.reason = loss_reason::expired, .lost = 4}};
  out.errors = {{.code = errc::connection_failed, .failures = 5}};
  out.statements = {{.operation = "acquiring", .took = some_durations()}};
  out.connections = 5;
  out.connections_in_use = 2;
  return out;
}

TEST(openmetrics_text, of_a_client_is_well_formed_and_says_what_it_was_given) {
  const auto seen = openmetrics::parse(text_of(busy_client()));
  EXPECT_EQ(seen.value("rowlock_acquisitions_total", {{"strategy", "for_update"}, {"outcome", "acquired"}}), 6);
  EXPECT_EQ(seen.value("rowlock_acquisitions_total", {{"strategy", "version_cas"}, {"outcome", "busy"}}), 2);
  EXPECT_EQ(seen.value("rowlock_losses_total", {{"reason", "expired"}}), 4);
  EXPECT_EQ(seen.value("rowlock_errors_total", {{"code", "connection_failed"}}), 5);
  EXPECT_EQ(seen.value("rowlock_connections", {{"state", "idle"}}), 3);
  EXPECT_EQ(seen.value("rowlock_connections", {{"state", "in_use"}}), 2);
  EXPECT_EQ(seen.value("rowlock_statement_seconds_bucket", {{"operation", "acquiring"}, {"le", "0.0001"}}), 3);
  EXPECT_EQ(seen.value("rowlock_statement_seconds_bucket", {{"operation", "acquiring"}, {"le", "1.0"}}), 5);
  EXPECT_EQ(seen.value("rowlock_statement_seconds_bucket", {{"operation", "acquiring"}, {"le", "+Inf"}}), 6);
  EXPECT_EQ(seen.value("rowlock_statement_seconds_count", {{"operation", "acquiring"}}), 6);
  EXPECT_DOUBLE_EQ(seen.value("rowlock_statement_seconds_sum", {{"operation", "acquiring"}}), 10800.0015);
  for (const auto& [name, family] : seen.families) {
    EXPECT_THAT(name, testing::StartsWith("rowlock_"));
    EXPECT_NE(family.help, "") << name;
    EXPECT_EQ(family.unit == "seconds", name.ends_with("_seconds")) << name;
  }
}

TEST(openmetrics_text, of_a_client_that_has_done_nothing_has_all_families) {
  const auto seen = openmetrics::parse(text_of(client_statistics{}));
  EXPECT_EQ(seen.families.size(), openmetrics::parse(text_of(busy_client())).families.size());
  EXPECT_EQ(seen.value("rowlock_held_locks"), 0);
}

TEST(openmetrics_text, of_a_database_is_well_formed_and_says_what_it_was_given) {
  const auto seen = openmetrics::parse(text_of(database_statistics{
      .names = 7, .held = 5, .held_by_transaction = 2, .waiters = 3, .longest_hold = 90s, .longest_wait = 250us}));
  EXPECT_EQ(seen.value("rowlock_database_up"), 1);
  EXPECT_EQ(seen.value("rowlock_database_names"), 7);
  EXPECT_EQ(seen.value("rowlock_database_held_locks", {{"by", "lease"}}), 3);
  EXPECT_EQ(seen.value("rowlock_database_held_locks", {{"by", "transaction"}}), 2);
  EXPECT_EQ(seen.value("rowlock_database_waiters"), 3);
  EXPECT_DOUBLE_EQ(seen.value("rowlock_database_longest_hold_seconds"), 90);
  EXPECT_DOUBLE_EQ(seen.value("rowlock_database_longest_wait_seconds"), 0.00025);
  EXPECT_EQ(openmetrics::parse(text_of(database_statistics{})).value("rowlock_database_longest_hold_seconds"), 0);
  const auto set_back = openmetrics::parse(text_of(database_statistics{.longest_wait = -4us}));
  EXPECT_DOUBLE_EQ(set_back.value("rowlock_database_longest_wait_seconds"), -0.000004);
}

TEST(openmetrics_text, of_a_database_that_does_not_answer_says_only_that) {
  const auto seen = openmetrics::parse(text_of(std::optional<database_statistics>{}));
  EXPECT_EQ(seen.families.size(), 1U);
  EXPECT_EQ(seen.value("rowlock_database_up"), 0);
}

job_run run_of(const char* job, job_result result, std::chrono::seconds began, std::chrono::seconds took) {
  using time = std::chrono::sys_time<duration>;
  job_run out{
      .job = job, .period_begin = time{1h}, .period_end = time{2h}, .started_at = time{began}, .result = result};
  if (result != job_result::running) out.finished_at = time{began + took};
  return out;
}

std::string text_of(const std::vector<job_run>& runs) {
  std::ostringstream out;
  write_openmetrics(out, database_statistics{}, runs);
  return out.str();
}

TEST(openmetrics_text, of_jobs_says_what_became_of_their_runs) {
  const auto seen = openmetrics::parse(text_of(std::vector{
      run_of("hourly", job_result::running, 4000s, 0s), run_of("hourly", job_result::failed, 3900s, 7s),
      run_of("hourly", job_result::succeeded, 3800s, 30s), run_of("hourly", job_result::succeeded, 100s, 20s),
      run_of("new", job_result::running, 4000s, 0s), run_of("wrong", job_result::lost, 3700s, 1s)}));
  const openmetrics::labels hourly{{"job_name", "hourly"}};
  EXPECT_DOUBLE_EQ(seen.value("rowlock_job_last_success_timestamp_seconds", hourly), 3830);
  EXPECT_DOUBLE_EQ(seen.value("rowlock_job_period_seconds", hourly), 3600);
  EXPECT_DOUBLE_EQ(seen.value("rowlock_job_last_run_seconds", hourly), 7);
  EXPECT_EQ(seen.value("rowlock_job_running", hourly), 1);
  EXPECT_EQ(seen.value("rowlock_job_runs", {{"job_name", "hourly"}, {"status", "succeeded"}}), 2);
  EXPECT_EQ(seen.value("rowlock_job_runs", {{"job_name", "hourly"}, {"status", "failed"}}), 1);
  EXPECT_EQ(seen.value("rowlock_job_runs", {{"job_name", "wrong"}, {"status", "lost"}}), 1);
  EXPECT_EQ(seen.value("rowlock_job_running", {{"job_name", "wrong"}}), 0);
  EXPECT_EQ(seen.value("rowlock_job_last_success_timestamp_seconds", {{"job_name", "wrong"}}), 0) << "so it is late";
  EXPECT_EQ(seen.families.at("rowlock_job_last_success_timestamp_seconds").samples.size(), 2U) << "not in a first run";
}

TEST(openmetrics_text, escapes_what_stands_in_a_label) {
  client_statistics odd;
  odd.statements = {{.operation = "a \"quoted\" \\ and\na line"}};
  const auto seen = openmetrics::parse(text_of(odd));
  EXPECT_EQ(seen.value("rowlock_statement_seconds_count", {{"operation", "a \"quoted\" \\ and\na line"}}), 0);
}

struct with_commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(openmetrics_text, is_the_same_in_every_locale_and_on_any_stream) {
  const auto plain = text_of(busy_client());
  const auto before = std::locale::global(std::locale{std::locale::classic(), new with_commas});
  std::ostringstream out;
  out << std::hex << std::showbase;
  out.width(20);
  write_openmetrics(out, busy_client());
  std::locale::global(before);
  EXPECT_EQ(out.str(), plain);
}

TEST(openmetrics_text, that_cannot_be_written_sets_the_streams_state) {
  std::ostream nowhere{nullptr};
  write_openmetrics(nowhere, client_statistics{});
  EXPECT_TRUE(nowhere.bad());
  std::ostringstream closed;
  closed.setstate(std::ios::failbit);
  EXPECT_NO_THROW(write_openmetrics(closed, client_statistics{}));
}

/// name -> type, of the tables of docs/observing.md.
std::map<std::string, std::string> documented() {
  std::ifstream page{ROWLOCK_DOCS_FOLDER "/observing.md"};
  EXPECT_TRUE(page.is_open());
  std::map<std::string, std::string> out;
  const std::regex row{"\\| `(rowlock_[a-z_]+)` \\| ([a-z]+) \\|.*"};
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    EXPECT_TRUE(out.emplace(found[1], found[2]).second) << found[1] << " stands there twice";
  }
  return out;
}

TEST(openmetrics_text, has_the_names_and_types_that_are_documented) {
  std::map<std::string, std::string> written;
  for (const auto& text :
       {text_of(client_statistics{}), text_of(std::vector{run_of("nightly", job_result::succeeded, 0s, 1s)})})
    for (const auto& [name, family] : openmetrics::parse(text).families) written.emplace(name, family.type);
  EXPECT_EQ(written, documented());
}

TEST(openmetrics_text, names_every_code_differently) {
  std::set<std::string_view> names;
  for (auto code = static_cast<int>(errc::invalid_name); code <= static_cast<int>(errc::database_error); ++code)
    EXPECT_TRUE(names.insert(to_string(static_cast<errc>(code))).second) << code;
  EXPECT_FALSE(names.contains("unknown"));
}

// --- the parser that the tests rely on -------------------------------------------------------------------------------

struct refused {
  const char* name;
  const char* text;
};

class openmetrics_parser : public testing::TestWithParam<refused> {};

TEST_P(openmetrics_parser, refuses) { EXPECT_THROW(openmetrics::parse(GetParam().text), std::runtime_error); }

INSTANTIATE_TEST_SUITE_P(
    text, openmetrics_parser,
    testing::Values(
        refused{"without_an_end", "# TYPE a gauge\na 1\n"}, refused{"without_a_last_line_feed", "# EOF"},
        refused{"with_something_behind_the_end", "# EOF\n# TYPE a gauge\n"}, refused{"with_two_ends", "# EOF\n# EOF\n"},
        refused{"with_an_empty_line", "\n# EOF\n"}, refused{"with_a_comment", "# hello\n# EOF\n"},
        refused{"without_a_type", "a 1\n# EOF\n"}, refused{"with_an_odd_type", "# TYPE a integer\na 1\n# EOF\n"},
        refused{"with_a_type_twice", "# TYPE a gauge\n# TYPE a gauge\n# EOF\n"},
        refused{"with_a_family_in_two_parts", "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n"},
        refused{"with_help_behind_samples", "# TYPE a gauge\na 1\n# HELP a text\n# EOF\n"},
        refused{"with_a_sample_of_another_family", "# TYPE a gauge\nb 1\n# EOF\n"},
        refused{"with_a_counter_without_its_suffix", "# TYPE a counter\na 1\n# EOF\n"},
        refused{"with_the_suffix_in_a_counters_family", "# TYPE a_total counter\na_total 1\n# EOF\n"},
        refused{"with_a_counter_below_zero", "# TYPE a counter\na_total -1\n# EOF\n"},
        refused{"with_a_unit_that_is_not_in_the_name", "# TYPE a gauge\n# UNIT a seconds\n# EOF\n"},
        refused{"with_a_sample_twice", "# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} 2\n# EOF\n"},
        refused{"with_a_label_twice", "# TYPE a gauge\na{b=\"c\",b=\"d\"} 1\n# EOF\n"},
        refused{"with_a_label_without_quotes", "# TYPE a gauge\na{b=c} 1\n# EOF\n"},
        refused{"with_a_stray_backslash", "# TYPE a gauge\na{b=\"\\x\"} 1\n# EOF\n"},
        refused{"with_a_comma_at_the_end", "# TYPE a gauge\na{b=\"c\",} 1\n# EOF\n"},
        refused{"with_a_timestamp", "# TYPE a gauge\na 1 1700000000\n# EOF\n"},
        refused{"with_two_spaces", "# TYPE a gauge\na  1\n# EOF\n"},
        refused{"without_a_value", "# TYPE a gauge\na \n# EOF\n"},
        refused{"with_a_comma_in_a_number", "# TYPE a gauge\na 1,5\n# EOF\n"},
        refused{"with_a_histogram_without_infinity",
                "# TYPE a histogram\na_bucket{le=\"1.0\"} 1\na_count 1\na_sum 1\n# EOF\n"},
        refused{"with_buckets_out_of_order",
                "# TYPE a histogram\na_bucket{le=\"2.0\"} 1\na_bucket{le=\"1.0\"} 1\na_bucket{le=\"+Inf\"} 1\na_count "
                "1\na_sum 1\n# EOF\n"},
        refused{"with_buckets_that_are_not_cumulative",
                "# TYPE a histogram\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\na_count 1\na_sum 1\n# EOF\n"},
        refused{"with_a_count_that_is_another",
                "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 2\na_sum 1\n# EOF\n"},
        refused{"with_a_histogram_without_a_sum", "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 1\n# EOF\n"},
        refused{"with_a_bucket_without_a_bound", "# TYPE a histogram\na_bucket 1\n# EOF\n"},
        refused{
            "with_histograms_that_interleave",
            "# TYPE a histogram\na_bucket{b=\"1\",le=\"+Inf\"} 1\na_bucket{b=\"2\",le=\"+Inf\"} 1\na_count{b=\"1\"} "
            "1\na_sum{b=\"1\"} 1\na_count{b=\"2\"} 1\na_sum{b=\"2\"} 1\n# EOF\n"}),
    [](const auto& each) { return each.param.name; });

TEST(openmetrics_parser_takes, what_the_format_allows) {
  const auto seen = openmetrics::parse(
      "# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n# HELP a_seconds a \\\\ b\n"
      "a_seconds_bucket{b=\"x\\\"y\",le=\"0.5\"} 1\na_seconds_bucket{b=\"x\\\"y\",le=\"+Inf\"} 2\n"
      "a_seconds_count{b=\"x\\\"y\"} 2\na_seconds_sum{b=\"x\\\"y\"} 1.25\n"
      "# TYPE c counter\nc_total 1e3\n# TYPE d gauge\nd -1\n# EOF\n");
  EXPECT_EQ(seen.families.size(), 3U);
  EXPECT_EQ(seen.families.at("a_seconds").help, "a \\ b");
  EXPECT_EQ(seen.value("a_seconds_sum", {{"b", "x\"y"}}), 1.25);
  EXPECT_EQ(seen.value("c_total"), 1000);
  EXPECT_EQ(seen.value("d"), -1);
}

}  // namespace
}  // namespace rowlock
