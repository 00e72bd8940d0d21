#pragma once

#include <rowlock/events.hpp>

#include <functional>
#include <utility>
#include <vector>

#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// Keeps events until a thread that may be held up by the observer delivers them.
class reporter {
 public:
  using observer = std::function<void(const event&)>;
  /// Without an observer events go to std::clog.
  explicit reporter(observer o);

  void add(event e) { waiting_.lock()->push_back(std::move(e)); }
  /// Calls the observer; what that throws is swallowed.
  void deliver() noexcept;

 private:
  observer observer_;
  guarded<std::vector<event>> waiting_;
};

}  // namespace rowlock::inline v1::runtime
