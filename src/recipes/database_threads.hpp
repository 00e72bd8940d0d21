#pragma once

#include <rowlock/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/guarded.hpp"
#include "recipes/quorum.hpp"

namespace rowlock::inline v1::recipes {

/// A thread for each of several databases, which does what it is told in its order: one that hangs holds up its own
/// only.
class database_threads {
 public:
  using errand = std::function<void()>;

  explicit database_threads(std::size_t number);
  database_threads(const database_threads&) = delete;
  database_threads& operator=(const database_threads&) = delete;
  /// Returns when all that was told is done.
  ~database_threads() = default;

  /// An errand must not throw.
  void tell(std::size_t database, errand what);

  /// Releases each on the thread of its database, after what that was told before. Returns when `enough` of them are
  /// released, or each was tried: the first failure if too few are.
  std::optional<error> release(std::vector<quorum::member> some, std::size_t enough);
  /// The same without waiting.
  void release_soon(std::vector<quorum::member> some) noexcept;

 private:
  struct worker {
    base::guarded<std::deque<errand>> errands;
    std::condition_variable_any told;
    std::jthread thread;
    void run(const std::stop_token& stop);
  };
  std::deque<worker> all_;
};

}  // namespace rowlock::inline v1::recipes
