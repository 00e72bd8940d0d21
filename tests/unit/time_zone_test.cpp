#include "base/time_zone.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <filesystem>
#include <random>
#include <string>

namespace rowlock {
namespace {

using base::time_zone;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

seconds offset_by_libc(sys_seconds t) {
  const time_t when = t.time_since_epoch().count();
  tm shown{};
  localtime_r(&when, &shown);
  return seconds{shown.tm_gmtoff};
}

/// Those with leap seconds ("right/") count time otherwise.
bool is_zone(const std::string& name) {
  return !name.starts_with("right/") && !name.starts_with("posix") && time_zone::find(name).has_value();
}

TEST(time_zone, agrees_with_the_c_library_everywhere) {
  const fs::path folder{"/usr/share/zoneinfo"};
  std::mt19937_64 dice{20261128};
  std::uniform_int_distribution<std::int64_t> times{-2'000'000'000, 10'000'000'000};  // 1906 to 2286
  int zones = 0;
  for (const auto& file : fs::recursive_directory_iterator{folder}) {
    const auto name = fs::relative(file.path(), folder).string();
    if (!file.is_regular_file() || !is_zone(name)) continue;
    ++zones;
    ::setenv("TZ", name.c_str(), 1);
    ::tzset();
    const auto zone = time_zone::find(name).value();
    for (int i = 0; i < 300; ++i) {
      const sys_seconds t{seconds{times(dice)}};
      const auto found = zone.at(t);
      ASSERT_EQ(found.offset, offset_by_libc(t)) << name << " at " << t.time_since_epoch().count();
      ASSERT_LE(found.begin, t);
      ASSERT_GT(found.end, t);
      if (found.begin == sys_seconds::min() || found.end == sys_seconds::max()) continue;
      ASSERT_EQ(offset_by_libc(found.begin), found.offset) << name;
      ASSERT_EQ(offset_by_libc(found.end - 1s), found.offset) << name;
    }
  }
  EXPECT_GT(zones, 300);
}

TEST(time_zone, utc_needs_no_files) {
  EXPECT_EQ(time_zone::find("UTC").value().at(sys_seconds{}).offset, 0s);
  EXPECT_EQ(time_zone{}.at(sys_seconds{}).offset, 0s);
}

TEST(time_zone, refuses_what_is_no_name_of_a_zone) {
  for (const char* const name : {"", "Europe/Belrin", "../../etc/passwd", "/etc/passwd", "Europe", "tzdata.zi"})
    EXPECT_FALSE(time_zone::find(name)) << name;
}

}  // namespace
}  // namespace rowlock
