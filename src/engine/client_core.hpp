#pragma once

#include <rowlock/options.hpp>
#include <rowlock/statistics.hpp>

#include <memory>
#include <string_view>

#include "engine/acquire/acquirer.hpp"
#include "engine/admin/admin.hpp"
#include "engine/events/telemetry.hpp"
#include "engine/flow/runner.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/lease/deadlock_watch.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "engine/queue/ticket_cleanup.hpp"
#include "engine/queue/ticket_upkeep.hpp"
#include "engine/queue/wakeups.hpp"
#include "engine/transaction/transaction_locks.hpp"

namespace rowlock::inline v1::engine {

/// The common part of a client, its mutexes and its locks: puts the components together, and closes them. It lives as
/// long as any of them; close() takes away what makes it work.
///
///   open --close()--> closed: nothing can be acquired, everything held is lost (client_closed)
///   in a child of a fork: foreign: calls throw, destructors do nothing
class client_core final {
 private:
  const client_options options_;
  identity who_;

 public:
  static std::shared_ptr<client_core> open(const driver::backend& kind, std::string_view url, client_options options);
  client_core(const driver::backend& kind, std::string_view url, client_options options);
  client_core(const client_core&) = delete;
  client_core& operator=(const client_core&) = delete;
  ~client_core() { close(); }

  void close() noexcept;
  client_statistics stats();
  bool upgrade(const lease_ptr& a) { return locks.upgrade(a, who_); }
  void downgrade(const lease_ptr& a) { locks.downgrade(a, who_); }
  const client_options& options() const noexcept { return options_; }
  bool is_foreign() const noexcept { return db.is_foreign(); }

  // The components: each uses only those above it, and the threads end first.
  telemetry events;
  gateway db;
  local_wait_queue queue;
  maintenance background;
  ticket_cleanup cleanup;
  ticket_upkeep tickets;
  held_locks locks;
  wakeups hints;
  deadlock_watch deadlocks;
  acquirer acquiring;
  transaction_locks transactions;
  inspector inspection;
  force_release freeing;
  runner asynchronous;
};

}  // namespace rowlock::inline v1::engine
