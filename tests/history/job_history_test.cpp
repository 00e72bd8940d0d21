#include "history/job_history.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

constexpr job_rules rules{.every = 100, .retries = 2};

run_row run(std::int64_t period, std::int64_t attempt, std::int64_t token, std::optional<std::string> result,
            std::optional<std::pair<std::int64_t, std::int64_t>> time = {}) {
  const auto begin = time ? time->first : token * 10;
  run_row out{.job = "a", .period_begin = period, .attempt = attempt, .token = token, .started_at = begin};
  out.result = std::move(result);
  if (out.result) out.finished_at = time ? time->second : begin + 5;
  return out;
}
job_work done(std::int64_t token) { return {.job = "a", .token = token, .is_done = true}; }
job_work begun(std::int64_t token) { return {.job = "a", .token = token, .is_done = false}; }
job_call call(std::string what, std::int64_t token, std::int64_t begin = 0, std::int64_t end = 1000) {
  return {.job = "a", .what = std::move(what), .token = token, .is_patient = true, .begin = begin, .end = end};
}

std::vector<std::string> violations(const job_history& all) { return judge_jobs(all, rules).violations; }

TEST(job_judge, has_nothing_against_good_histories) {
  const std::vector<job_history> good{
      {},
      {.runs = {run(0, 1, 1, "succeeded")}, .works = {done(1)}, .calls = {call("succeeded", 1, 1, 20)}},
      // The second host waits, or comes early, and finds the success.
      {.runs = {run(0, 1, 1, "succeeded")},
       .works = {done(1)},
       .calls = {call("succeeded", 1, 1, 20), call("already_succeeded", 1, 2, 30)}},
      {.runs = {run(0, 1, 1, "failed"), run(0, 2, 2, "succeeded"), run(100, 1, 3, "succeeded")},
       .works = {begun(1), done(2), done(3)},
       .calls = {call("succeeded", 2), call("succeeded", 3)}},
      // A runner that was killed before its work, in it, and after it.
      {.runs = {run(0, 1, 1, "lost"), run(0, 2, 2, "lost"), run(0, 3, 3, std::nullopt)}, .works = {begun(2), done(3)}},
      // The end of a lost run may be recorded at any time, and by another one.
      {.runs = {run(0, 1, 1, "lost", {{10, 99}}), run(0, 2, 2, "succeeded", {{50, 60}})},
       .works = {done(1), done(2)},
       .calls = {call("lost", 1), call("succeeded", 2)}},
      {.runs = {run(0, 1, 1, "failed"), run(0, 2, 2, "failed"), run(0, 3, 3, "failed")},
       .works = {begun(1), begun(2), begun(3)},
       .calls = {call("attempts_used_up", 3, 1, 99), call("threw", 3, 2, 98)}},
      // Nobody came after the failure; and calls that had to be elsewhere.
      {.runs = {run(0, 1, 1, "failed")},
       .works = {begun(1)},
       .calls = {call("error", 0, 1, 99),
                 call("lost", 0, 1, 99),
                 {.job = "a", .what = "not_acquired", .is_patient = false, .begin = 1, .end = 2}}},
      // It began in one period and ended in the next.
      {.calls = {call("not_acquired", 0, 99, 101)}},
  };
  for (std::size_t i = 0; i < good.size(); ++i) EXPECT_EQ(violations(good[i]), std::vector<std::string>{}) << i;
}

TEST(job_judge, rejects_bad_histories) {
  const std::vector<std::pair<const char*, job_history>> bad{
      {"a period has two successes",
       {.runs = {run(0, 1, 1, "succeeded"), run(0, 2, 2, "succeeded")}, .works = {done(1), done(2)}}},
      {"a run was begun after the success",
       {.runs = {run(0, 1, 1, "succeeded"), run(0, 2, 2, "failed")}, .works = {done(1), begun(2)}}},
      {"too many runs were begun",
       {.runs = {run(0, 1, 1, "lost"), run(0, 2, 2, "lost"), run(0, 3, 3, "lost"), run(0, 4, 4, "lost")}}},
      {"runs are not numbered from 1 on", {.runs = {run(0, 1, 1, "lost"), run(0, 3, 2, "lost")}}},
      {"runs are not numbered from 1 on", {.runs = {run(0, 2, 1, "lost")}}},
      {"a later run has a smaller token", {.runs = {run(0, 1, 2, "lost"), run(0, 2, 1, "lost")}}},
      {"a token has two runs", {.runs = {run(0, 1, 1, "lost"), run(100, 1, 1, "lost")}}},
      {"an end was recorded after the lock was lost",
       {.runs = {run(0, 1, 1, "succeeded", {{10, 60}}), run(100, 1, 2, "lost", {{59, 70}})}, .works = {done(1)}}},
      {"an end was recorded after the lock was lost",
       {.runs = {run(0, 1, 1, "failed", {{10, 60}}), run(0, 2, 2, "lost", {{59, 70}})}, .works = {begun(1)}}},
      {"a later run is of an earlier period", {.runs = {run(100, 1, 1, "lost"), run(0, 1, 2, "lost")}}},
      {"a success without the work", {.runs = {run(0, 1, 1, "succeeded")}, .works = {begun(1)}}},
      {"an end without any work", {.runs = {run(0, 1, 1, "succeeded")}}},
      {"an end without any work", {.runs = {run(0, 1, 1, "failed")}, .works = {begun(2)}}},
      {"work was done without a run", {.works = {begun(1)}}},
      {"work was done twice under one token", {.runs = {run(0, 1, 1, "lost")}, .works = {begun(1), begun(1)}}},
      {"an answer is about no run", {.calls = {call("already_succeeded", 1)}}},
      {"a success that is not recorded",
       {.runs = {run(0, 1, 1, "lost")}, .works = {done(1)}, .calls = {call("succeeded", 1)}}},
      {"a success that is not recorded",
       {.runs = {run(0, 1, 1, "failed")}, .works = {done(1)}, .calls = {call("already_succeeded", 1)}}},
      {"a success that was denied",
       {.runs = {run(0, 1, 1, "succeeded")}, .works = {done(1)}, .calls = {call("lost", 1)}}},
      {"a success that was denied",
       {.runs = {run(0, 1, 1, "succeeded")}, .works = {done(1)}, .calls = {call("threw", 1)}}},
      {"more runs may begin", {.runs = {run(0, 1, 1, "lost")}, .calls = {call("attempts_used_up", 1)}}},
      {"more runs may begin",
       {.runs = {run(0, 1, 1, "lost"), run(0, 2, 2, "lost"), run(0, 3, 3, "succeeded")},
        .works = {done(3)},
        .calls = {call("attempts_used_up", 2)}}},
      {"a period was left without a success",
       {.runs = {run(0, 1, 1, "failed")}, .works = {begun(1)}, .calls = {call("threw", 1, 5, 99)}}},
      {"a period was left without a success",
       {.runs = {run(0, 1, 1, "succeeded")}, .works = {done(1)}, .calls = {call("already_succeeded", 1, 101, 110)}}},
      {"a period was left without a success", {.calls = {call("not_acquired", 0, 101, 110)}}},
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const auto found = violations(bad[i].second);
    ASSERT_FALSE(found.empty()) << i << ' ' << bad[i].first;
    bool is_named = false;
    for (const auto& each : found) is_named = is_named || each.starts_with(bad[i].first);
    EXPECT_TRUE(is_named) << i << ' ' << bad[i].first << ", and not " << found.front();
  }
}

TEST(job_judge, counts_what_it_does_not_judge) {
  const auto out = judge_jobs({.runs = {run(0, 1, 1, "lost"), run(0, 2, 2, "succeeded"), run(100, 1, 11, std::nullopt),
                                        run(200, 1, 21, "failed"), run(200, 2, 22, "lost"), run(200, 3, 23, "failed")},
                               .works = {done(1), done(2), done(11), begun(21), begun(22), begun(23)},
                               .calls = {call("lost", 1), call("succeeded", 2, 20, 30), call("threw", 23, 210, 290)}},
                              rules);
  EXPECT_EQ(out.violations, std::vector<std::string>{});
  EXPECT_EQ(out.periods, 3U);
  EXPECT_EQ(out.runs, 6U);
  EXPECT_EQ(out.successes, 1U);
  EXPECT_EQ(out.used_up, 1U);
  EXPECT_EQ(out.served, 2U);
  EXPECT_EQ(out.lost, 2U);
  EXPECT_EQ(out.unrecorded, 2U);
  EXPECT_EQ(out.answers.at("lost"), 1U);
}

TEST(job_record, is_read_as_far_as_it_was_written) {
  const temp_folder folder;
  {
    job_record one{folder / "one"};
    one.works("a", 7);
    one.is_done("a", 7);
    one.answered({.job = "a", .what = "succeeded", .token = 7, .is_patient = true, .begin = 5, .end = 9});
    job_record other{folder / "other"};
    other.works("a", 8);
    std::ofstream{folder / "other", std::ios::app} << "D a 8";  // it was killed here
  }
  const auto all = read_job_records(folder.path());
  ASSERT_EQ(all.works.size(), 2U);
  for (const auto& each : all.works) EXPECT_EQ(each.is_done, each.token == 7);
  ASSERT_EQ(all.calls.size(), 1U);
  EXPECT_EQ(all.calls[0].what, "succeeded");
  EXPECT_EQ(all.calls[0].token, 7);
  EXPECT_TRUE(all.calls[0].is_patient);
  EXPECT_EQ(all.calls[0].begin, 5);
  EXPECT_EQ(all.calls[0].end, 9);
}

}  // namespace
}  // namespace rowlock::test
