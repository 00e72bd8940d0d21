#pragma once

#include <rowlock/export.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "core/url.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/session.hpp"
#include "sql/passage.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

enum class foreign_news : std::uint8_t {
  none,     ///< there are no other processes
  counted,  ///< session::change_count counts their commits
  told,     ///< by a listener, names
  woken,    ///< by a listener, while it waits, without a name
  asked     ///< by asking the database again
};
/// Whether a release by another process reaches a waiter, if the row says that somebody waits.
constexpr bool reaches_waiters(foreign_news how) noexcept {
  return how == foreign_news::told || how == foreign_news::woken;
}

/// A connection on which other clients tell this one that it may acquire names now. Used by one thread.
class ROWLOCK_EXPORT listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// No wait is longer.
  static constexpr duration longest_wait = std::chrono::seconds{10};
  /// Waits until it hears something: names, and an empty text for a wake-up, or a ring, that says none. Nothing: the
  /// server still answers at that time, or stop was requested. Throws if the connection has ended. Where news() is
  /// `woken`, what comes between two waits has no effect.
  virtual std::vector<std::string> wait(base::instant until, const std::stop_token& stop) = 0;
};

/// One database that can be connected to.
class ROWLOCK_EXPORT database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  virtual ~database() = default;

  virtual std::unique_ptr<session> connect(const limits& until) = 0;
  /// A session that is to hold locks by transactions: the server ends it if it is idle for
  /// open_options::transaction_limit. Only for databases with row locks.
  virtual std::unique_ptr<session> connect_to_hold(const limits& until);
  /// A transaction of the caller's; this database and `tx` must outlive the result. Throws wrong_transaction_state if
  /// `tx` is of another kind of database.
  virtual std::unique_ptr<enlisted_transaction> join(caller_transaction& tx) = 0;
  /// Whether a transaction can keep one row locked and leave the others unlocked. Otherwise a lock without a lease
  /// names this client's liveness.
  virtual bool has_row_locks() const noexcept = 0;
  /// Other clients use this to tell whether the client that opened this database lives. Empty: there are no others.
  virtual std::string liveness() { return {}; }
  /// From now on this client counts as dead.
  virtual void abandon() noexcept {}
  /// The last call on a session: deletes what this client has made beside the database.
  virtual void retire(const sheets::sheet& /*sql*/, session& /*on*/, const limits& /*until*/) {}
  /// More sessions than this bring no gain.
  virtual std::size_t most_sessions() const noexcept = 0;
  /// Whether its sessions need static objects, which are destroyed when the program ends.
  virtual bool needs_static_objects() const noexcept { return false; }
  /// A call has at least this much time, even if its caller has less: to cut it would cost the connection.
  virtual duration least_call() const noexcept { return {}; }
  /// How a client learns that another process has released a lock.
  virtual foreign_news news() const noexcept = 0;
  /// For what others tell the client with this owner. Only where it reaches_waiters().
  virtual std::unique_ptr<listener> listen(const std::string& owner, const limits& until);
  /// Wakes the client with this owner, on this session, if it sleeps and the server lets us. Where news() is not
  /// `woken` it does nothing.
  virtual void wake(session& /*on*/, std::string_view /*owner*/, const limits& /*until*/) {}
  /// Asks the server, on this session, to end the sessions whose calls were cut or whose replies were lost: the server
  /// may still be executing them. As far as it can; throws only if `on` cannot be used any more.
  virtual void end_lost_sessions(session& /*on*/, const limits& /*until*/) {}
  /// Asks the server, on this session, to end the session of that number, if the server itself says that it keeps the
  /// row of that name locked. That session may end some time later. Throws permission_denied, and database_error if
  /// others keep the row. Only for databases with row locks.
  virtual void end_session(const sheets::sheet& sql, session& on, std::string_view name, std::int64_t number,
                           const limits& until);
};

/// Throws wrong_transaction_state if the caller's transaction is not of this kind.
ROWLOCK_EXPORT void require_kind(const caller_transaction& tx, detail::backend kind);

/// Takes a warning: a call has succeeded, but a setting makes the locks less safe or slower than they could be.
using warn = std::function<void(const std::string& sentence)>;

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

/// What a client's options mean to a database; each database uses those that concern it.
struct open_options {
  warn warning{};
  std::string application_name{};  ///< as servers list their sessions
  duration call_timeout = std::chrono::seconds{5};
  duration transaction_limit = std::chrono::seconds{10};
  std::string table_prefix = "rowlock_";
  bool transaction_pooling = false;  ///< two transactions of a connection may run in two of the server's sessions
  bool durable_release = false;      ///< a release waits until it is on disk
};

/// One kind of database. Differences between databases are data, here and in the dialect.
struct backend {
  std::span<const std::string_view> schemes;
  sheets::sheet (*sheet)(std::string_view prefix, const open_options& with);
  std::span<const sheets::migration> migrations;
  /// The sheet as people read it. Throws error{errc::invalid_option} for what is not for this database.
  std::vector<sheets::passage> (*passages)(std::string_view scheme, const open_options& with);
  /// Throws error{errc::invalid_url}; opens nothing yet.
  std::unique_ptr<database> (*open)(const core::url& address, const open_options& with);
};

/// Throws unsupported for a scheme whose backend is not linked in, invalid_url for one that rowlock does not know.
const backend& backend_for(std::string_view scheme);

}  // namespace rowlock::inline v1::driver
