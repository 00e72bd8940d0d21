#include <rowlock/rowlock.hpp>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ground.hpp"
#include "memory.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/json_line.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

using figures = std::map<std::string, double>;

// --- in a process of its own, which does nothing else

enum class user : std::uint8_t { sleeping_threads, rowlock, session_locks };

struct memory_orders {
  user of = user::rowlock;
  std::string url{};
  std::string prefix{};
  bool is_quick = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(memory_orders, of, url, prefix, is_quick)

struct memory_answer {
  std::string error{};
  bench::figures figures{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(memory_answer, error, figures)

struct usage {
  double heap = 0;      ///< bytes that were allocated and not freed
  double resident = 0;  ///< bytes of the process that are in memory
};

usage usage_now() {
  const auto heap = ::mallinfo2();
  std::ifstream statm{"/proc/self/statm"};
  double pages = 0;
  statm >> pages >> pages;
  return {.heap = static_cast<double>(heap.uordblks + heap.hblkhd),
          .resident = pages * static_cast<double>(::sysconf(_SC_PAGESIZE))};
}

/// Until two looks in a row see the same: threads may still be on the way to where they wait.
usage settled_usage() {
  auto last = usage_now();
  (void)test::eventually([&] {
    std::this_thread::sleep_for(100ms);
    const auto now = usage_now();
    return std::exchange(last, now).heap == now.heap;
  });
  return last;
}

usage grown_by(const usage& before, std::size_t count) {
  const auto now = settled_usage();
  const auto each = static_cast<double>(count);
  return {.heap = (now.heap - before.heap) / each, .resident = (now.resident - before.resident) / each};
}

void add(figures& to, const char* what, const usage& each) {
  to[fmt::format("{}: heap, bytes", what)] = each.heap;
  to[fmt::format("{}: resident, bytes", what)] = each.resident;
}

rowlock::client connect(const memory_orders& what) {
  return rowlock::client::connect(what.url, {.application = application, .table_prefix = what.prefix});
}

/// A lease so long that nothing is renewed meanwhile.
const rowlock::lock_options for_an_hour{.lease = 1h};

/// `begin` makes a thread wait until the stop is requested; `all_wait` tells when all of them do.
usage usage_of_waiting(std::size_t count, const std::function<void(std::stop_token)>& begin,
                       const std::function<bool()>& all_wait) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  const auto before = settled_usage();
  std::stop_source stop;
  for (std::size_t number = 0; number < count; ++number)
    threads.emplace_back([&begin, token = stop.get_token()] { begin(token); });
  const bool do_wait = test::eventually(all_wait);
  const auto each = grown_by(before, count);
  stop.request_stop();
  if (!do_wait) throw std::runtime_error{"threads did not wait"};
  return each;
}

std::size_t many_threads(const memory_orders& what) { return what.is_quick ? 64 : 256; }

figures measure_sleeping(const memory_orders& what) {
  std::mutex guard;
  std::condition_variable_any changed;
  std::size_t asleep = 0;
  const auto sleep = [&](const std::stop_token& stop) {
    std::unique_lock lock{guard};
    ++asleep;
    changed.wait(lock, stop, [] { return false; });
  };
  const auto all_wait = [&] {
    const std::scoped_lock lock{guard};
    return asleep == many_threads(what);
  };
  figures found;
  add(found, "waiting thread", usage_of_waiting(many_threads(what), sleep, all_wait));
  return found;
}

usage usage_of_held(const memory_orders& what) {
  const std::size_t count = what.is_quick ? 1'000 : 10'000;
  auto locks = connect(what);
  locks.acquire("memory/first", for_an_hour).release();
  const auto before = settled_usage();
  std::vector<rowlock::held_lock> held;
  held.reserve(count);
  for (std::size_t number = 0; number < count; ++number)
    held.push_back(locks.acquire(fmt::format("memory/{}", number), for_an_hour));
  return grown_by(before, count);
}

void wait_in_vain(rowlock::client& locks, std::stop_token stop) {
  try {
    locks.acquire("memory/hot", for_an_hour, std::move(stop)).release();
  } catch (const rowlock::error& e) {
    if (e.code() != rowlock::errc::cancelled) throw;
  }
}

usage usage_of_waiting_for_a_lock(const memory_orders& what) {
  auto other = connect(what);
  const auto held = other.acquire("memory/hot", for_an_hour);
  auto locks = connect(what);
  (void)locks.try_acquire_for("memory/hot", 100ms);  // connects, and listens
  const auto count = many_threads(what);
  const auto measure = [&] {
    return usage_of_waiting(
        count, [&](std::stop_token stop) { wait_in_vain(locks, std::move(stop)); },
        [&] { return locks.stats().waiting == count; });
  };
  measure();  // opens the other connections, which do not belong to any thread
  return measure();
}

double threads_now() {
  return static_cast<double>(std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}));
}

/// Asynchronous calls that wait, and the time from a cancellation to its answer while all the others wait.
figures measure_pending(const memory_orders& what) {
  using clock = std::chrono::steady_clock;
  struct call {
    std::stop_source end;
    clock::time_point cancelled;
    std::atomic<std::int64_t> took_ns{-1};
  };
  const std::size_t count = what.is_quick ? 1'000 : 10'000;
  auto other = connect(what);
  const auto held = other.acquire("memory/pending", for_an_hour);
  auto locks = connect(what);
  (void)locks.try_acquire_for("memory/pending", 100ms);  // connects, and listens
  std::vector<call> all(count);
  const auto begin = [&](std::size_t from, std::size_t to) {
    for (auto at = from; at < to; ++at)
      locks.acquire_async("memory/pending", for_an_hour, all[at].end.get_token())
          .start([one = &all[at]](const auto& /*answer*/) {
            one->took_ns = std::chrono::nanoseconds{clock::now() - one->cancelled}.count();
          });
    if (!test::eventually([&] { return locks.stats().waiting == to; })) throw std::runtime_error{"calls do not wait"};
  };
  const auto threads = threads_now();
  constexpr std::size_t first = 100;
  begin(0, first);  // opens the other connections, which belong to no call
  const auto before = settled_usage();
  begin(first, count);
  figures found;
  add(found, "pending call", grown_by(before, count - first));
  found["threads for all pending calls"] = threads_now() - threads;
  std::vector<double> took_ms;
  for (std::size_t at = 0; at < count / 10; ++at) {
    auto& one = all[at * 10];
    one.cancelled = clock::now();
    one.end.request_stop();
    if (!test::eventually([&] { return one.took_ns >= 0; })) throw std::runtime_error{"a call was not cancelled"};
    took_ms.push_back(static_cast<double>(one.took_ns) / 1e6);
  }
  std::sort(took_ms.begin(), took_ms.end());
  found["cancel beside pending calls: p99, ms"] = took_ms.at(took_ms.size() * 99 / 100);
  const auto closing = clock::now();
  locks.close();
  found["close with pending calls: ms"] = std::chrono::duration<double, std::milli>{clock::now() - closing}.count();
  return found;
}

figures measure_rowlock(const memory_orders& what) {
  auto found = measure_pending(what);
  add(found, "held lock", usage_of_held(what));
  add(found, "waiting thread", usage_of_waiting_for_a_lock(what));
  return found;
}

/// Each in a session, as it must be.
figures measure_session_locks(const memory_orders& what) {
  constexpr std::size_t count = 64;
  const auto at = open_server(what.url);
  const auto first = at.connect();
  const auto before = settled_usage();
  struct session {
    std::unique_ptr<test::connection> connection;
    std::unique_ptr<test::statement> lock;
  };
  std::vector<session> held;
  for (std::size_t number = 0; number < count; ++number) {
    held.push_back({.connection = at.connect(), .lock = nullptr});
    held.back().lock = held.back().connection->prepare(at.session_lock.lock);
    const auto key = fmt::format("{}", number);
    if (held.back().lock->run(std::array{key.c_str()}) == 0) throw std::runtime_error{"a session did not get a lock"};
  }
  figures found;
  add(found, "held lock", grown_by(before, count));
  return found;
}

figures measure_as(const memory_orders& what) {
  switch (what.of) {
    case user::sleeping_threads:
      return measure_sleeping(what);
    case user::rowlock:
      return measure_rowlock(what);
    case user::session_locks:
      return measure_session_locks(what);
  }
  throw std::invalid_argument{"there is no such user of memory"};
}

// --- the case

/// For what is started meanwhile: malloc does not keep freed blocks for the thread that has freed them, which it would
/// count as allocated.
class without_thread_caches {
 public:
  without_thread_caches() { ::setenv(variable, "glibc.malloc.tcache_count=0", 1); }
  without_thread_caches(const without_thread_caches&) = delete;
  without_thread_caches& operator=(const without_thread_caches&) = delete;
  ~without_thread_caches() { ::unsetenv(variable); }

 private:
  static constexpr const char* variable = "GLIBC_TUNABLES";
};

measurement in_own_process(const memory_orders& what) {
  const without_thread_caches scope;
  test::child_process process{memory_role};
  process.send(test::to_line(what));
  auto heard = test::from_line<memory_answer>(process.read_line(5min));
  if (!heard.error.empty()) throw std::runtime_error{"a process failed: " + heard.error};
  return {.figures = std::move(heard.figures)};
}

std::vector<measurement> measure_memory(const make_ground& make, const std::vector<user>& users, bool is_quick) {
  const auto here = make();
  rowlock::client::connect(here.at.url, here.options()).migrate();
  std::vector<measurement> all;
  for (const auto each : users)
    all.push_back(in_own_process({.of = each, .url = here.at.url, .prefix = here.prefix, .is_quick = is_quick}));
  return all;
}

}  // namespace

std::vector<bench_case> memory_cases(const std::string& database, const make_ground& make) {
  std::vector<std::string> names{"thread that sleeps", "rowlock unique_index"};
  std::vector<user> users{user::sleeping_threads, user::rowlock};
  if (database != "sqlite") {
    names.emplace_back("session lock");
    users.push_back(user::session_locks);
  }
  return {whole_case("memory", database, 1, std::move(names),
                     [make, users](bool is_quick) { return measure_memory(make, users, is_quick); })};
}

int measure_memory_of_this_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  memory_answer answer;
  try {
    std::string line;
    if (!std::getline(std::cin, line)) return 0;
    answer.figures = measure_as(test::from_line<memory_orders>(line));
  } catch (const std::exception& e) {
    answer.error = e.what();
  }
  std::cout << test::to_line(answer) << std::endl;
  return answer.error.empty() ? 0 : 1;
}

}  // namespace bench
