#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "driver/backend.hpp"

namespace rowlock::inline v1::driver {

/// Passes on the first warning only: every session of a client finds the same fault of the server. Thread-safe.
class warn_once {
 public:
  explicit warn_once(warn to) : to_{std::move(to)} {}
  void operator()(const std::string& sentence) {
    std::call_once(done_, [&] {
      if (to_) to_(sentence);
    });
  }

 private:
  const warn to_;
  std::once_flag done_;
};

}  // namespace rowlock::inline v1::driver
