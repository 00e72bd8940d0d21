#pragma once

#include <memory>

#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/queue/ticket_upkeep.hpp"
#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// How this client learns that another one has released a name: the sources that its database offers. Wake-ups are
/// hints: nothing depends on one (law 7).
class wakeups {
 public:
  wakeups(gateway& db, const identity& who, local_wait_queue& queue, ticket_upkeep& tickets, ticket_cleanup& cleanup);

  wakeups(const wakeups&) = delete;
  wakeups& operator=(const wakeups&) = delete;
  ~wakeups() { stop(); }

  /// Sources work while a waiter is subscribed to them.
  const subscription::sources& all() const noexcept { return sources_; }
  /// Whether a waiter is notified of a release, or no other client can release. `is_marked`: its row says that a client
  /// waits.
  bool is_notified(bool is_marked) const noexcept;
  void look_sooner() const noexcept;
  void stop() noexcept;

 private:
  subscription::sources sources_;
};

}  // namespace rowlock::inline v1::engine
