#include "history/job_hosts.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "process/roles.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"

// A process of several hosts, each with a client and a clock of its own, whose timers fire once in each period.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using time = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

time now() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }
std::int64_t since_1970(time t) { return t.time_since_epoch().count(); }

/// A line to the parent, by one thread at a time.
void say_alone(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard alone{mutex};
  say(line);
}

/// The work of a run has failed, and was not asked to end.
struct no_luck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A timer for one job on one host.
class job_timer {
 public:
  job_timer(client& locks, int job, std::chrono::microseconds ahead, job_record& to, unsigned seed)
      : locks_{locks}, number_{job}, name_{name_of_job(job)}, ahead_{ahead}, record_{to}, random_{seed} {}

  /// Fires at the beginning of each period by the host's own clock; not while the last call is under way.
  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      const auto shown = (now() + ahead_).time_since_epoch();
      const time at{shown / job_period() * job_period() + job_period() - ahead_};
      std::unique_lock lock{mutex};
      never.wait_until(lock, stop, at, [] { return false; });
      if (!stop.stop_requested()) fire(stop);
    }
  }

 private:
  /// Mostly without a limit of time.
  job_options options() {
    constexpr std::chrono::milliseconds waits[] = {0ms, 300ms};
    job_options out{.every = job_period(), .retries = job_retries, .retry_wait = number_ % 2 == 0 ? 0ms : 20ms};
    if (random_() % 5 == 0) out.wait = waits[random_() % std::size(waits)];
    out.lock = {.strategy = random_() % 2 == 0 ? strategy::unique_index : strategy::version_cas,
                .lease = job_lease(),
                .fairness = number_ % 3 == 2 ? fairness::fifo : fairness::unfair};
    return out;
  }

  void fire(const std::stop_token& stop) {
    const auto how = options();
    job_call call{.job = name_, .what = "error", .begin = since_1970(now())};
    std::int64_t token = 0;
    try {
      job mine{locks_, name_, how};
      const auto out = mine.run(
          [&](const std::stop_token& lost, const held_lock& by) {
            token = by.token().value();
            work(lost, token);
          },
          stop);
      call.what = to_string(out.what);
      if (out.run) call.token = out.run->token.value();
    } catch (const no_luck&) {
      call.what = "threw";
      call.token = token;
    } catch (const error&) {  // no server, or a stop
    }
    call.end = since_1970(now());
    call.is_patient = how.wait == duration::max() && !stop.stop_requested();
    record_.answered(call);
  }

  /// Every second one does not care whether it is to stop.
  void work(const std::stop_token& stop, std::int64_t token) {
    record_.works(name_, token);
    say_alone("works");
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{10 + random_() % 150} * slower();
    const bool obeys = random_() % 2 == 0;
    while (std::chrono::steady_clock::now() < until) {
      if (obeys && stop.stop_requested()) throw error{errc::cancelled, "stopped"};
      std::this_thread::sleep_for(2ms);
    }
    if (random_() % 5 == 0) throw no_luck{"no luck"};
    record_.is_done(name_, token);
  }

  client& locks_;
  const int number_;
  const std::string name_;
  const std::chrono::microseconds ahead_;
  job_record& record_;
  std::mt19937 random_;
};

/// How much the clock of a host is ahead: up to two tenths of a period, or behind.
std::chrono::microseconds ahead_of(int host, int hosts) {
  const std::chrono::microseconds most = job_period() / 5;
  return most * (2 * host - (hosts - 1)) / std::max(hosts - 1, 1);
}

/// job_hosts URL FOLDER SEED FIRST END ALL JOBS EACH_OF: the hosts from FIRST on and before END, until "enough" is
/// in the folder. Each job is on one host of EACH_OF. It says "works" whenever one of them begins a run's work.
int play_hosts(const std::vector<std::string>& arguments) {
  const auto& url = arguments.at(0);
  const std::filesystem::path folder{arguments.at(1)};
  const auto seed = static_cast<unsigned>(std::stoul(arguments.at(2)));
  const int first = std::stoi(arguments.at(3));
  const int end = std::stoi(arguments.at(4));
  const int all = std::stoi(arguments.at(5));
  const int jobs = std::stoi(arguments.at(6));
  const int each_of = std::stoi(arguments.at(7));
  const auto is_enough = [&] { return std::filesystem::exists(folder / "enough"); };

  job_record record{folder / "records" / std::to_string(lasting_number())};
  std::vector<std::unique_ptr<client>> clients;
  std::vector<std::jthread> timers;
  while (first + std::ssize(clients) < end && !is_enough()) {
    const auto host = first + std::ssize(clients);
    // A server may be away.
    const auto failed = error_of([&] {
      clients.push_back(std::make_unique<client>(client::connect(url, {.application = "host" + std::to_string(host),
                                                                       .connections = 2,
                                                                       .call_timeout = 3s * slower(),
                                                                       .observer = silent()})));
      return true;
    });
    if (failed) std::this_thread::sleep_for(100ms);
  }
  for (int i = 0; i < std::ssize(clients); ++i)
    for (int host = first + i, job = host % each_of; job < jobs; job += each_of)
      timers.emplace_back([&locks = *clients[static_cast<std::size_t>(i)], &record, job, ahead = ahead_of(host, all),
                           own = seed + static_cast<unsigned>(host * jobs + job)](const std::stop_token& stop) {
        job_timer{locks, job, ahead, record, own}.run(stop);
      });
  say_alone("going");
  while (!is_enough()) std::this_thread::sleep_for(20ms);
  for (auto& each : timers) each.request_stop();
  return 0;
}

const role_registration hosts_role{"job_hosts", play_hosts};

}  // namespace
}  // namespace rowlock::test
