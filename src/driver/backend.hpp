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
  none,      ///< there are no other processes
  counted,   ///< other processes commit too, and session::change_count counts their commits
  notified,  ///< a listener hears names
  woken,     ///< a listener is woken while it waits, without a name
  asked      ///< the client polls the database
};
/// Whether a release by another process reaches a waiter, if the row says that a client waits.
constexpr bool reaches_waiters(foreign_news how) noexcept {
  return how == foreign_news::notified || how == foreign_news::woken;
}

/// A connection on which other clients notify this one that it may acquire names now. Used by one thread.
class ROWLOCK_EXPORT listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// The longest possible wait.
  static constexpr duration longest_wait = std::chrono::seconds{10};
  /// Waits until it hears something: it returns names, and an empty text for a wake-up or a notification without a
  /// name. It returns nothing if the server still answers at that time, or if stop was requested. Throws if the
  /// connection has ended. If news() is `woken`, a wake-up between two waits has no effect.
  virtual std::vector<std::string> wait(base::instant until, const std::stop_token& stop) = 0;
};

/// A database to which a client can connect.
class ROWLOCK_EXPORT database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  virtual ~database() = default;

  /// For messages: "PostgreSQL (db:5432/shop)". Of several, the first.
  virtual std::string server() const = 0;
  virtual std::unique_ptr<session> connect(const limits& until) = 0;
  /// A session for locks that are held by transactions: the server ends it if it is idle for
  /// open_options::transaction_limit. Only for databases with row locks.
  virtual std::unique_ptr<session> connect_to_hold(const limits& until);
  /// The caller's own transaction; this database and `tx` must outlive the result. Throws
  /// wrong_transaction_state if `tx` is of another kind of database. `is_guarded`: the guard over failovers is on.
  virtual std::unique_ptr<enlisted_transaction> join(caller_transaction& tx, bool is_guarded) = 0;
  /// Whether a transaction can keep one row locked and leave the others unlocked. If not, a lock without a lease names
  /// this client's liveness file.
  virtual bool has_row_locks() const noexcept = 0;
  /// The text by which other clients find out whether the client that opened this database lives. Empty: there are no
  /// other clients.
  virtual std::string liveness() { return {}; }
  /// From now on this client counts as dead.
  virtual void abandon() noexcept {}
  /// The last call on a session: deletes what this client has made outside the database.
  virtual void retire(const sheets::sheet& /*sql*/, session& /*on*/, const limits& /*until*/) {}
  /// More sessions than this bring no gain.
  virtual std::size_t most_sessions() const noexcept = 0;
  /// Whether its sessions need static objects, which are destroyed when the program ends.
  virtual bool needs_static_objects() const noexcept { return false; }
  /// A call has at least this much time, even if its caller has less: a cut call would cost the connection.
  virtual duration least_call() const noexcept { return {}; }
  /// How a client learns that another process has released a lock.
  virtual foreign_news news() const noexcept = 0;
  /// Hears what other clients report to the client with this owner. Only if it reaches_waiters().
  virtual std::unique_ptr<listener> listen(const std::string& owner, const limits& until);
  /// Wakes the client with this owner, on this session, if it sleeps and the server permits that. Does nothing unless
  /// news() is `woken`.
  virtual void wake(session& /*on*/, std::string_view /*owner*/, const limits& /*until*/) {}
  /// Asks the server, on this session, to end the sessions whose calls were cut or whose replies were lost: the server
  /// may still be executing those calls. Failures are ignored, unless `on` cannot be used any more: then it throws.
  virtual void end_lost_sessions(session& /*on*/, const limits& /*until*/) {}
  /// Asks the server, on this session, to end the session of that number, if the server itself reports that this
  /// session keeps the row of that name locked. The session may end some time later. Throws permission_denied, and
  /// database_error if other sessions keep the row. Only for databases with row locks.
  virtual void end_session(const sheets::sheet& sql, session& on, std::string_view name, std::int64_t number,
                           const limits& until);
};

/// Throws wrong_transaction_state if the caller's own transaction is of another kind of database.
ROWLOCK_EXPORT void require_kind(const caller_transaction& tx, detail::backend kind);

/// Takes a warning: a call has succeeded, but a setting makes the locks less safe or slower than they could be.
using warn = std::function<void(const std::string& sentence)>;

/// Passes on each warning once, because every session of a client finds the same faults of the server. Thread-safe.
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

/// A client's options as a database uses them; each database uses those that concern it.
struct open_options {
  warn warning{};
  std::string application_name{};  ///< as the server's list of sessions shows it
  duration call_timeout = std::chrono::seconds{5};
  duration transaction_limit = std::chrono::seconds{10};
  std::string table_prefix = "rowlock_";
  bool transaction_pooling = false;  ///< two transactions of a connection may run in two of the server's sessions
  bool durable_release = false;      ///< a release waits until it is on disk
  bool is_guarded = false;           ///< of sheet(): as it is sent while the guard is on
  bool may_relax = false;            ///< of sheet(): as it is sent while the guard is relaxed
};

/// One kind of database. Differences between databases are data, here and in the dialect.
struct backend {
  std::span<const std::string_view> schemes;
  sheets::sheet (*sheet)(std::string_view prefix, const open_options& with);
  std::span<const sheets::migration> migrations;
  /// The sheet for human readers. Throws error{errc::invalid_option} for options that this database does not have.
  std::vector<sheets::passage> (*passages)(std::string_view scheme, const open_options& with);
  /// Throws error{errc::invalid_url}; opens nothing yet.
  std::unique_ptr<database> (*open)(const core::url& address, const open_options& with);
};

/// Throws unsupported for a scheme whose backend is not linked in, and invalid_url for an unknown scheme.
const backend& backend_for(std::string_view scheme);

}  // namespace rowlock::inline v1::driver
