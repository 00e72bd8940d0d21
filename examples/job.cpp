// A job that at most one process does at a time. Its lock is a lease: it is renewed in the background while the job
// runs, it ends by itself if the process dies, and the job is told if it is lost.
//
//   job [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <stop_token>

namespace {

using namespace std::chrono_literals;

constexpr const char* name = "reports/daily";
constexpr int pages = 100;

enum class outcome { done, busy, lost };

/// Writes the pages of a report; `write_page` is one step of the work.
outcome write_report(rowlock::client& locks, const std::function<void(int)>& write_page) {
  // After a crash of this process the next one waits for at most the lease. The note is for people who list locks.
  auto held = locks.try_acquire(name, {.lease = 10s, .note = "daily report"});
  if (!held) return outcome::busy;  // another process does it now: that is no error

  // Fires when the lock is lost. Look at it between the steps, and keep a step shorter than the lease.
  const std::stop_token lost = held->lost();
  for (int page = 0; page < pages; ++page) {
    if (lost.stop_requested()) {
      std::cerr << held->name() << ": stopped at page " << page << ": " << to_string(held->why_lost()) << '\n';
      return outcome::lost;
    }
    write_page(page);
  }
  // Send held->token() along with what the job stores: the receiver can refuse what has an older token.
  held->release();  // throws if the lock was lost meanwhile; the destructor would only report that
  return outcome::done;
}

void expect(bool what, const char* otherwise) {
  if (!what) throw std::runtime_error{otherwise};
}

}  // namespace

int main(int argc, char** argv) try {
  auto locks = rowlock::client::connect(argc > 1 ? argv[1] : "sqlite:locks.db", {.application = "job-example"});
  locks.migrate();

  int written = 0;
  expect(write_report(locks, [&](int) { ++written; }) == outcome::done && written == pages, "the job was not done");

  // Another process would find the name taken while the job runs.
  auto elsewhere = outcome::done;
  const auto look = [&](int) { elsewhere = write_report(locks, [](int) {}); };
  expect(write_report(locks, look) == outcome::done && elsewhere == outcome::busy, "two did the job at once");

  // An operator frees the name in the middle of it (`rowlock release reports/daily` does the same).
  written = 0;
  const auto free_at_fourth = [&](int page) {
    ++written;
    if (page == 3) locks.force_release(name);
  };
  expect(write_report(locks, free_at_fourth) == outcome::lost && written == 4, "the job did not stop");
} catch (const std::exception& e) {
  std::cerr << "job: " << e.what() << '\n';
  return 1;
}
