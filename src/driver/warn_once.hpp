#pragma once

#include <set>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "driver/backend.hpp"

namespace rowlock::inline v1::driver {

/// Passes on each warning once: every session of a client finds the same faults of the server. Thread-safe.
class warn_once {
 public:
  explicit warn_once(warn to) : to_{std::move(to)} {}
  void operator()(const std::string& sentence) {
    const bool is_new = said_.lock()->insert(sentence).second;
    if (is_new && to_) to_(sentence);
  }

 private:
  const warn to_;
  base::guarded<std::set<std::string>> said_;
};

}  // namespace rowlock::inline v1::driver
