#include "base/atexit_registry.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork_guard.hpp"

namespace rowlock::inline v1::base {

namespace {

struct list {
  const std::uint64_t generation = process_generation();
  std::mutex mutex;
  std::vector<std::weak_ptr<closable>> open;
  std::vector<const void*> kinds;  // whose static objects are older than an exit handler
};

// Never destroyed: it is asked until the very end. The child of a fork begins another one, since nobody may be there to
// unlock the parent's.
list& current() {
  static std::atomic<list*> the{nullptr};
  list* found = the.load();
  if (found != nullptr && found->generation == process_generation()) return *found;
  auto fresh = std::make_unique<list>();
  return the.compare_exchange_strong(found, fresh.get()) ? *fresh.release() : *found;
}

void close_all() {
  list& all = current();
  std::vector<std::weak_ptr<closable>> open;
  {
    const std::lock_guard lock{all.mutex};
    open.swap(all.open);
  }
  for (const auto& each : open)
    if (const auto found = each.lock()) found->close();
}

}  // namespace

void close_at_exit(const std::shared_ptr<closable>& what, const void* kind) {
  list& all = current();
  const std::lock_guard lock{all.mutex};
  if (std::find(all.kinds.begin(), all.kinds.end(), kind) == all.kinds.end()) {
    all.kinds.push_back(kind);
    std::atexit(close_all);  // NOLINT(cert-err33-c): where it cannot, what is left to do?
  }
  std::erase_if(all.open, [](const auto& each) { return each.expired(); });
  all.open.push_back(what);
}

}  // namespace rowlock::inline v1::base
