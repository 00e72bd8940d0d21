#pragma once

#include <rowlock/export.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/url.hpp"
#include "dialect/dialect.hpp"
#include "driver/guest.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

enum class foreign_news : std::uint8_t {
  none,     ///< there are no other processes
  counted,  ///< session::change_count tells of their commits
  told,     ///< by a listener
  asked     ///< by looking again
};

/// A connection on which other clients tell this one which names it may have now. Used by one thread.
class ROWLOCK_EXPORT listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// For poll(2): readable when there is something to hear, or when the connection has ended.
  virtual int descriptor() const noexcept = 0;
  /// What was told since, without waiting: names, or nothing as an answer to verb::ring. Throws where the connection
  /// has ended.
  virtual std::vector<std::string> heard() = 0;
  /// Whether the server is still there. Throws where it is not.
  virtual void probe(const limits& until) = 0;
};

/// One database that can be connected to.
class ROWLOCK_EXPORT database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  virtual ~database() = default;

  virtual std::unique_ptr<session> connect(const limits& until) = 0;
  /// One that is to hold locks by transactions: the server ends it where it says nothing for open_options::
  /// transaction_limit. Only where rows have locks.
  virtual std::unique_ptr<session> connect_to_hold(const limits& until);
  /// A transaction of the caller's; both must outlive what is given. Throws wrong_transaction_state where it is of
  /// another kind of database.
  virtual std::unique_ptr<guest> join(caller_transaction& tx) = 0;
  /// Whether a transaction can keep a row locked and leave the others alone. Where it cannot, a lock without a lease
  /// names this client's liveness.
  virtual bool has_row_locks() const noexcept = 0;
  /// By this others can tell that the client that opened this database lives. Empty: there are no others.
  virtual std::string liveness() { return {}; }
  /// Nothing of this client counts any more: others need not ask whether it lives.
  virtual void abandon() noexcept {}
  /// The last call on a session: tidies up what stands beside the database.
  virtual void retire(const dialect::table& /*sql*/, session& /*on*/, const limits& /*until*/) {}
  /// More sessions than this are of no use.
  virtual std::size_t most_sessions() const noexcept = 0;
  /// Whether its sessions need what is destroyed when the program ends.
  virtual bool needs_static_objects() const noexcept { return false; }
  /// A call is given this much time even if whoever waits has less: to cut it would cost the connection.
  virtual duration least_call() const noexcept { return {}; }
  /// How a client learns that another process has let go of a lock.
  virtual foreign_news news() const noexcept = 0;
  /// Where news are told: to the client with this owner.
  virtual std::unique_ptr<listener> listen(const std::string& owner, const limits& until);
  /// Asks the server, on this session, to end those whose calls were cut or whose replies were lost: what they were
  /// doing may be under way yet. As far as it can; throws only where `on` is of no further use.
  virtual void end_lost_sessions(session& /*on*/, const limits& /*until*/) {}
  /// Asks the server, on this session, to end the one of that number, if the server itself says that it keeps the row
  /// of that name locked. It may last until it is gone. Throws permission_denied, and where others keep it
  /// database_error. Only where rows have locks.
  virtual void end_session(const dialect::table& sql, session& on, std::string_view name, std::int64_t number,
                           const limits& until);
};

/// Throws wrong_transaction_state where the caller's transaction is not of this kind.
ROWLOCK_EXPORT void require_kind(const caller_transaction& tx, detail::backend kind);

/// What went well, but not as well as it could.
using warn = std::function<void(const std::string& sentence)>;

/// What a client's options mean to a database; each takes what concerns it.
struct open_options {
  warn warning{};
  std::string application_name{};  ///< as servers list their sessions
  duration call_timeout = std::chrono::seconds{5};
  duration transaction_limit = std::chrono::seconds{10};
  std::string table_prefix = "rowlock_";
  bool transaction_pooling = false;  ///< two transactions of a connection may meet two of the server's sessions
  bool durable_release = false;      ///< a release waits until it is on disk
};

/// One kind of database. Differences between databases are data, here and in the dialect.
struct backend {
  std::span<const std::string_view> schemes;
  dialect::table (*dialect)(std::string_view prefix, const open_options& with);
  std::span<const dialect::migration> (*migrations)();
  /// Throws error{errc::invalid_url}; opens nothing yet.
  std::unique_ptr<database> (*open)(const core::url& address, const open_options& with);
};

/// Throws unsupported for a scheme whose backend is not linked in, invalid_url for one that rowlock does not know.
const backend& backend_for(std::string_view scheme);

}  // namespace rowlock::inline v1::driver
