#pragma once

#include <chrono>

namespace bench {

/// How long processors were busy, and in what time.
struct cpu_times {
  std::chrono::duration<double> elapsed{};
  std::chrono::duration<double> own{};   ///< with this process
  std::chrono::duration<double> busy{};  ///< with whatever

  double own_cores() const { return elapsed.count() > 0 ? own / elapsed : 0; }
  double busy_cores() const { return elapsed.count() > 0 ? busy / elapsed : 0; }
};

/// Measures from its construction on. What is not this process comes from the system in steps of 10 ms.
class cpu_meter {
 public:
  cpu_meter();

  void add_to(cpu_times& sum) const;

 private:
  std::chrono::steady_clock::time_point began_;
  std::chrono::duration<double> own_;
  std::chrono::duration<double> busy_;
};

}  // namespace bench
