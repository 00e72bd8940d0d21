#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <memory>
#include <string>

#include "buy.hpp"
#include "messages.hpp"

namespace flash_sale {

/// What all locks here are about.
inline constexpr const char* item = "item/1";

/// How purchases are kept from getting in each other's way, or are not. All threads of a process share one.
class way {
 public:
  way() = default;
  way(const way&) = delete;
  way& operator=(const way&) = delete;
  virtual ~way() = default;

  /// One purchase. Notes in `mine` how long a lock was waited for, if there was one.
  virtual outcome buy(shop& from, const request& what, message& mine) = 0;
};

/// By the name of the run. Throws std::invalid_argument where there is none of that name.
std::unique_ptr<way> make_way(const std::string& run, const std::string& locks_url);

/// Measures from its construction.
class stopwatch {
 public:
  void note_in(message& mine) const {
    const auto took = std::chrono::steady_clock::now() - began_;
    mine.waits_us.push_back(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

inline rowlock::client connect(const std::string& locks_url) {
  return rowlock::client::connect(locks_url, {.application = "flash_sale"});
}

}  // namespace flash_sale
