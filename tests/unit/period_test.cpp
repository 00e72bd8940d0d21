#include "core/period.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <initializer_list>
#include <string>

#include "support/errors.hpp"

namespace rowlock {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::sys_time;
using std::chrono::Thursday;
using std::chrono::weekday;
using std::chrono::year;
using namespace std::chrono_literals;
using core::is_for_the_next;
using core::period;
using core::schedule;

sys_seconds utc(int y, unsigned m, unsigned d, hours h = 0h, minutes min = 0min) {
  return sys_days{year{y} / month{m} / day{d}} + h + min;
}

const schedule nightly_in_berlin{24h, 3h, "Europe/Berlin"};
const schedule noon_in_new_york{24h, 12h, "America/New_York"};
const schedule midnight_in_sao_paulo{24h, {}, "America/Sao_Paulo"};
const schedule midnight_in_apia{24h, 0min, "Pacific/Apia"};

schedule daily(minutes at, const std::string& zone) { return schedule{24h, at, zone}; }

struct found_at {
  schedule of;
  sys_seconds time;
  sys_seconds begin;
  sys_seconds end;
};

void expect_periods(std::initializer_list<found_at> all) {
  for (const auto& each : all)
    EXPECT_EQ(each.of.at(each.time), (period{each.begin, each.end})) << each.time.time_since_epoch().count();
}

TEST(period, is_a_multiple_of_its_length_since_the_epoch) {
  const auto day = [](hours h, minutes min = 0min) { return utc(2026, 11, 28, h, min); };
  expect_periods({{schedule{15min}, day(10h, 44min) + 59s, day(10h, 30min), day(10h, 45min)},
                  {schedule{15min}, day(10h, 45min), day(10h, 45min), day(11h)},
                  {schedule{24h}, day(23h), day(0h), day(24h)},
                  {schedule{1h}, sys_seconds{-1s}, sys_seconds{-1h}, sys_seconds{0s}}});
}

TEST(period, ends_where_the_next_begins_to_the_microsecond) {
  const auto end = nightly_in_berlin.at(utc(2026, 7, 1, 12h)).end;
  EXPECT_EQ(nightly_in_berlin.at(end - 1us).end, end);
  EXPECT_EQ(nightly_in_berlin.at(end).begin, end);
}

TEST(period, of_a_day_has_23_or_25_hours_when_summer_time_begins_or_ends) {
  expect_periods({{nightly_in_berlin, utc(2026, 3, 28, 12h), utc(2026, 3, 28, 2h), utc(2026, 3, 29, 1h)},
                  {nightly_in_berlin, utc(2026, 3, 29, 1h), utc(2026, 3, 29, 1h), utc(2026, 3, 30, 1h)},
                  {nightly_in_berlin, utc(2026, 10, 25), utc(2026, 10, 24, 1h), utc(2026, 10, 25, 2h)},
                  {nightly_in_berlin, utc(2028, 2, 29, 12h), utc(2028, 2, 29, 2h), utc(2028, 3, 1, 2h)},
                  {noon_in_new_york, utc(2026, 3, 8, 15h), utc(2026, 3, 7, 17h), utc(2026, 3, 8, 16h)},
                  {noon_in_new_york, utc(2026, 11, 1, 15h), utc(2026, 10, 31, 16h), utc(2026, 11, 1, 17h)}});
}

TEST(period, begins_at_the_end_of_a_gap_and_at_the_first_of_two_equal_times) {
  const auto berlin = daily(150min, "Europe/Berlin");
  expect_periods(
      {{berlin, utc(2026, 3, 29, 1h), utc(2026, 3, 29, 1h), utc(2026, 3, 30, 0h, 30min)},
       {daily(2h, "America/New_York"), utc(2026, 3, 8, 12h), utc(2026, 3, 8, 7h), utc(2026, 3, 9, 6h)},
       {berlin, utc(2026, 10, 25, 1h, 30min), utc(2026, 10, 25, 0h, 30min), utc(2026, 10, 26, 1h, 30min)},
       {daily(1h, "America/New_York"), utc(2026, 11, 1, 6h, 30min), utc(2026, 11, 1, 5h), utc(2026, 11, 2, 6h)}});
  // changes of half an hour
  expect_periods({{daily(135min, "Australia/Lord_Howe"), utc(2026, 10, 3, 15h, 30min), utc(2026, 10, 3, 15h, 30min),
                   utc(2026, 10, 4, 15h, 15min)},
                  {daily(105min, "Australia/Lord_Howe"), utc(2026, 4, 4, 15h, 15min), utc(2026, 4, 4, 14h, 45min),
                   utc(2026, 4, 5, 15h, 15min)}});
}

TEST(period, begins_late_where_midnight_is_skipped_and_not_on_a_day_that_a_zone_left_out) {
  expect_periods({{midnight_in_sao_paulo, utc(2018, 11, 4, 3h), utc(2018, 11, 4, 3h), utc(2018, 11, 5, 2h)},
                  {midnight_in_sao_paulo, utc(2018, 11, 4, 2h), utc(2018, 11, 3, 3h), utc(2018, 11, 4, 3h)},
                  {midnight_in_sao_paulo, utc(2018, 2, 18, 2h), utc(2018, 2, 17, 2h), utc(2018, 2, 18, 3h)},
                  {daily(0min, "Asia/Beirut"), utc(2026, 3, 29), utc(2026, 3, 28, 22h), utc(2026, 3, 29, 21h)},
                  {midnight_in_apia, utc(2011, 12, 30, 9h), utc(2011, 12, 29, 10h), utc(2011, 12, 30, 10h)},
                  {midnight_in_apia, utc(2011, 12, 30, 10h), utc(2011, 12, 30, 10h), utc(2011, 12, 31, 10h)}});
}

TEST(period, of_several_days_counts_days_since_1970) {
  const schedule every_other_day{48h, 3h, "Europe/Berlin"};
  const schedule weekly{7 * 24h, 3h};
  // 2026-03-28 is day 20540.
  expect_periods({{every_other_day, utc(2026, 3, 29, 12h), utc(2026, 3, 28, 2h), utc(2026, 3, 30, 1h)},
                  {every_other_day, utc(2026, 3, 28, 1h), utc(2026, 3, 26, 2h), utc(2026, 3, 28, 2h)},
                  {weekly, utc(2028, 2, 29, 12h), utc(2028, 2, 24, 3h), utc(2028, 3, 2, 3h)}});
  EXPECT_EQ(weekday{floor<days>(utc(2028, 2, 24))}, Thursday) << "as 1970-01-01";
}

TEST(period, follows_one_another_without_a_gap) {
  for (const char* const zone : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"})
    for (const hours every : {24h, 48h, 168h})
      for (const minutes at : {0min, 90min, 150min, 23 * 60min + 59min}) {
        const schedule all{every, at, zone};
        auto each = all.at(utc(2010, 1, 1));
        for (const auto stop = utc(2013, 1, 1); each.end < stop;) {
          const auto next = all.at(each.end);
          ASSERT_EQ(next.begin, each.end) << zone;
          ASSERT_EQ(all.at(next.end - 1us), next) << zone;
          ASSERT_LE(abs(next.end - next.begin - every), 25h) << zone;
          each = next;
        }
      }
}

void expect_refusal(duration every, std::optional<minutes> at, const std::string& zone, const std::string& sentence) {
  const auto e = test::error_of([&] { return schedule{every, at, zone}; });
  ASSERT_TRUE(test::is_error(e, errc::invalid_option)) << sentence;
  EXPECT_EQ(e->what(), sentence);
}

TEST(period, is_that_of_a_start_shortly_before_it_unless_the_last_run_began_just_before) {
  constexpr period hour{sys_seconds{0s}, sys_seconds{1h}};
  const auto is_next = [&](duration asked, duration began, duration early_by = 5min) {
    return is_for_the_next(hour, sys_time<duration>{asked}, sys_time<duration>{began}, early_by);
  };
  EXPECT_TRUE(is_next(59min, 0s));
  EXPECT_TRUE(is_next(55min + 1us, 0s));
  EXPECT_FALSE(is_next(55min, 0s));
  EXPECT_FALSE(is_next(1min, 0s));
  EXPECT_TRUE(is_next(59min, 54min));
  EXPECT_FALSE(is_next(59min, 54min + 1us));
  EXPECT_FALSE(is_next(59min, 59min + 1s)) << "it waited for the lock";
  EXPECT_FALSE(is_next(1h - 1us, 0s, 0s));
  EXPECT_TRUE(is_next(1h + 1us, 0s, 0s)) << "it has begun meanwhile";
}

TEST(period, is_refused_where_it_is_not_clear_when_it_begins_or_ends) {
  expect_refusal(999ms, {}, "", "every is 999 ms; it must be between 1 s and 366 days");
  expect_refusal(24h * 366 + 1s, {}, "", "every is 31622401000 ms; it must be between 1 s and 366 days");
  expect_refusal(-1h, {}, "", "every is -3600000 ms; it must be between 1 s and 366 days");
  EXPECT_NO_THROW(schedule(1s));
  EXPECT_NO_THROW(schedule(24h * 366));
  expect_refusal(15min, 3h, "", "at is for periods of whole days, and every is 900000 ms; make it a multiple of 24 h");
  expect_refusal(36h, {}, "Europe/Berlin",
                 "time_zone is for periods of whole days, and every is 129600000 ms; make it a multiple of 24 h");
  expect_refusal(24h, 24h, "", "at is 1440 min after midnight; it must be 0 or more, and less than 24 h");
  expect_refusal(24h, -1min, "", "at is -1 min after midnight; it must be 0 or more, and less than 24 h");
  for (const std::string zone : {"Europe/Belrin", "../passwd", "/etc/passwd", "Europe", "Europe//", "tzdata.zi", "x y"})
    expect_refusal(24h, {}, zone,
                   "time zone \"" + zone +
                       "\" is unknown on this machine; write a name like Europe/Berlin, whose rules the package tzdata "
                       "installs");
}

}  // namespace
}  // namespace rowlock
