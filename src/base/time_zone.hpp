#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <version>

#if defined __cpp_lib_chrono && __cpp_lib_chrono >= 201907L
#define ROWLOCK_HAS_STD_ZONES
#else
#include <vector>
#endif

namespace rowlock::inline v1::base {

/// The local time of a place. The rules are those of std::chrono::time_zone where the standard library has it
/// (libstdc++ since gcc 14), otherwise those of the system's files in /usr/share/zoneinfo: the functions of the C
/// library read the zone from the environment, which no library may change while other threads run.
class time_zone {
 public:
  /// UTC.
  time_zone() = default;
  /// nullopt: this machine knows no zone of this name. "UTC" is known everywhere.
  static std::optional<time_zone> find(const std::string& name);

  /// A time between two changes: local clocks are `offset` ahead of UTC.
  struct stretch {
    std::chrono::sys_seconds begin = std::chrono::sys_seconds::min();
    std::chrono::sys_seconds end = std::chrono::sys_seconds::max();
    std::chrono::seconds offset{};
  };
  stretch at(std::chrono::sys_seconds t) const;

 private:
#ifdef ROWLOCK_HAS_STD_ZONES
  const std::chrono::time_zone* zone_ = nullptr;
#else
  std::vector<stretch> stretches_{{}};  // all of them, in order
#endif
};

}  // namespace rowlock::inline v1::base
