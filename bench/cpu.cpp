#include "cpu.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <string>

namespace bench {

namespace {

using seconds = std::chrono::duration<double>;

seconds in_seconds(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

seconds own_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, in ticks of all processors.
seconds busy_time() {
  std::ifstream stat{"/proc/stat"};
  std::string label;
  std::array<double, 7> ticks{};
  stat >> label;
  for (auto& each : ticks) stat >> each;
  constexpr std::size_t idle = 3;
  constexpr std::size_t waiting_for_disk = 4;
  double busy = 0;
  for (std::size_t at = 0; at < ticks.size(); ++at)
    if (at != idle && at != waiting_for_disk) busy += ticks[at];
  return seconds{busy / static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

}  // namespace

cpu_meter::cpu_meter() : began_{std::chrono::steady_clock::now()}, own_{own_time()}, busy_{busy_time()} {}

void cpu_meter::add_to(cpu_times& sum) const {
  sum.elapsed += std::chrono::steady_clock::now() - began_;
  sum.own += own_time() - own_;
  sum.busy += busy_time() - busy_;
}

}  // namespace bench
