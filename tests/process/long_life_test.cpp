#include <malloc.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <iterator>
#include <set>
#include <sstream>

#include "process/process_test.hpp"
#include "support/sqlite_database.hpp"
#include "support/tier.hpp"

// A program that stays up for a day. Its clocks run fast, and so does that of SQLite, which is a part of it.

namespace rowlock::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::steady_clock;

constexpr int times_faster = 720;  // a day in two minutes

/// What a program has, and must not have more and more of.
struct belongings {
  std::int64_t heap = 0;  // bytes that are allocated, without the pages that SQLite caches
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
  std::int64_t rows = 0;  // of names, waiters and shares
};

std::ostream& operator<<(std::ostream& to, const belongings& b) {
  return to << b.heap << ' ' << b.threads << ' ' << b.descriptors << ' ' << b.rows;
}
std::istream& operator>>(std::istream& from, belongings& b) {
  return from >> b.heap >> b.threads >> b.descriptors >> b.rows;
}

std::int64_t entries_of(const char* folder) { return std::distance(std::filesystem::directory_iterator{folder}, {}); }

/// One lock for the whole life, and one that has a limit; short locks by the minute; by the hour a job, and a wait that
/// is in vain.
class long_life {
 public:
  explicit long_life(const std::string& url, hours limit)
      : file_{url.substr(url.find(':') + 1)},
        locks_{client::connect(url, patient())},
        other_{client::connect(url, patient())},
        limited_{locks_.acquire("limited", {.lease = usual_.lease, .hold_limit = limit})} {}

  void live_an_hour() {
    const auto end = steady_clock::now() + hours{1};
    for (int minute = 0; steady_clock::now() < end; ++minute) {
      for (int i = 0; i < 10; ++i) locks_.acquire("new/" + std::to_string(++names_), usual_).release();
      const auto again = locks_.acquire_shared("again", usual_);
      tokens_grow_ = tokens_grow_ && std::exchange(last_, again.token()) < again.token();
      if (minute % 20 == 0) runs_ += job_.run([](auto&&...) {}).what == job_status::succeeded ? 1 : 0;
      if (minute == 30) wait_in_vain();
      std::this_thread::sleep_for(minutes{1});
    }
  }

  belongings has() {
    const auto count = [&](const std::string& table) { return file_.number("SELECT count(*) FROM rowlock_" + table); };
    return {.heap = static_cast<std::int64_t>(::mallinfo2().uordblks) - ::sqlite3_memory_used(),
            .threads = entries_of("/proc/self/task"),
            .descriptors = entries_of("/proc/self/fd"),
            .rows = count("lock") + count("waiter") + count("share")};
  }

  /// What was not as it should have been.
  std::string complaints(int hours_lived) {
    std::ostringstream out;
    if (!kept_) out << "the lock was lost: " << to_string(kept_.why_lost()) << "; ";
    if (limited_.why_lost() != loss_reason::hold_limit) out << "no limit: " << to_string(limited_.why_lost()) << "; ";
    const auto statistics = locks_.stats();
    if (statistics.renewals < static_cast<std::uint64_t>(hours_lived)) out << statistics.renewals << " renewals; ";
    std::set<std::chrono::sys_time<duration>> periods;
    for (const auto& each : job_.history()) periods.insert(each.period_begin);
    if (static_cast<int>(periods.size()) != runs_ || runs_ < hours_lived || runs_ > hours_lived + 1)
      out << runs_ << " runs in " << periods.size() << " periods; ";
    if (!tokens_grow_) out << "a token did not grow; ";
    if (waits_ != hours_lived) out << "waits that were as long as they should be: " << waits_ << "; ";
    for (const auto& each : statistics.errors) out << each.failures << " times " << to_string(each.code) << "; ";
    return out.str();
  }

 private:
  // What the machine takes counts so many times.
  static client_options patient() {
    return {.connect_timeout = minutes{30}, .call_timeout = minutes{30}, .observer = [](const event&) {}};
  }

  void wait_in_vain() {
    const auto from = steady_clock::now();
    const bool is_granted = other_.try_acquire_for("kept", minutes{5}).has_value();
    const auto waited = steady_clock::now() - from;
    waits_ += !is_granted && waited >= minutes{5} && waited < minutes{5} + 2s * times_faster ? 1 : 0;
  }

  const lock_options usual_{.lease = hours{2}};
  sqlite_database file_;
  client locks_;
  client other_;
  held_lock kept_ = locks_.acquire("kept", usual_);
  held_lock limited_;
  job job_{other_, "hourly", {.every = hours{1}, .early_by = 0s, .lock = usual_}};
  sweeper sweeper_{other_, {.every = minutes{10}, .retention = hours{1}}};
  std::int64_t names_ = 0;
  fencing_token last_{};
  bool tokens_grow_ = true;
  int runs_ = 0;
  int waits_ = 0;
};

/// live URL HOURS: says each hour what it has, and at the end what is wrong.
int live(const std::vector<std::string>& arguments) {
  const int whole = std::stoi(arguments.at(1));
  long_life one{arguments.at(0), hours{whole - 1}};
  for (int i = 0; i < whole; ++i) {
    one.live_an_hour();
    std::ostringstream line;
    line << one.has();
    say(line.str());
  }
  say(one.complaints(whole));
  return 0;
}
const role_registration live_role{"live", live};

TEST(long_life, of_a_day_does_not_make_a_program_grow) {
  constexpr int settled = 3;  // unused names stay for an hour, and are looked for each ten minutes
  const int whole = many(24, 6);
  sqlite_database file;
  connect_patiently(file.url()).migrate();
  ::setenv("LD_PRELOAD", ROWLOCK_FAST_CLOCK_LIBRARY, 1);
  ::setenv("ROWLOCK_FAST_CLOCK", std::to_string(times_faster).c_str(), 1);
  child_process program{"live", {file.url(), std::to_string(whole)}};
  ::unsetenv("LD_PRELOAD");
  belongings before;
  belongings now;
  for (int hour = 1; hour <= whole; ++hour) {
    std::istringstream{program.read_line()} >> now;
    if (hour == settled) before = now;
  }
  EXPECT_EQ(program.read_line(), "");
  EXPECT_EQ(program.wait(), 0);
  std::ostringstream report;
  report << "heap, threads, descriptors, rows: " << before << " after " << settled << " hours, " << now << " after "
         << whole;
  std::cout << report.str() << std::endl;
  EXPECT_LT(now.heap, before.heap + std::int64_t{64} * 1024) << report.str();
  const int lately_needed = 8;  // a connection, or a thread that collects requests
  EXPECT_LE(now.threads, before.threads + lately_needed) << report.str();
  EXPECT_LE(now.descriptors, before.descriptors + lately_needed) << report.str();
  EXPECT_LT(now.rows, 10 * 90) << "ten names a minute, for an hour and until the next sweep: " << report.str();
}

}  // namespace
}  // namespace rowlock::test
