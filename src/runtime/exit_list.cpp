#include "runtime/exit_list.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/client_impl.hpp"
#include "runtime/fork_guard.hpp"

namespace rowlock::inline v1::runtime {

namespace {

struct list {
  const std::uint64_t generation = process_generation();
  std::mutex mutex;
  std::vector<std::weak_ptr<detail::client_impl>> clients;
  std::vector<const driver::backend*> kinds;  // whose static objects are older than an exit handler
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
  std::vector<std::weak_ptr<detail::client_impl>> clients;
  {
    const std::lock_guard lock{all.mutex};
    clients.swap(all.clients);
  }
  for (const auto& each : clients)
    if (const auto client = each.lock()) client->close();
}

}  // namespace

void close_at_exit(const std::shared_ptr<detail::client_impl>& client, const driver::backend& of) {
  list& all = current();
  const std::lock_guard lock{all.mutex};
  if (std::find(all.kinds.begin(), all.kinds.end(), &of) == all.kinds.end()) {
    all.kinds.push_back(&of);
    std::atexit(close_all);  // NOLINT(cert-err33-c): where it cannot, what is left to do?
  }
  std::erase_if(all.clients, [](const auto& each) { return each.expired(); });
  all.clients.push_back(client);
}

}  // namespace rowlock::inline v1::runtime
