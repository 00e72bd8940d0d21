#include <fmt/format.h>

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "server.hpp"

namespace bench {
namespace {

// {clock} is microseconds since 1970.
constexpr const char* upsert = R"(
INSERT INTO {prefix}lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
VALUES ($1, {clock}, $2, $3, $4, clock_timestamp(), clock_timestamp() + $5::bigint * interval '1 microsecond', $6)
ON CONFLICT (name) DO UPDATE SET version = greatest(l.version + 1, {clock}), owner = excluded.owner,
  thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at,
  expires_at = excluded.expires_at, note = excluded.note
WHERE l.owner IS NULL OR l.expires_at <= clock_timestamp()
RETURNING version)";
constexpr const char* vacate = R"(
UPDATE {prefix}lock SET version = greatest(version + 1, {clock}), owner = NULL, thread = NULL, note = NULL,
  expires_at = clock_timestamp()
WHERE name = $1 AND acquisition = $2{relaxed}
RETURNING version)";
constexpr const char* lock_row = R"(
SELECT version FROM {prefix}lock
WHERE name = $1 AND (owner IS NULL OR expires_at <= clock_timestamp())
FOR UPDATE)";
constexpr const char* raise_version = R"(
UPDATE {prefix}lock SET version = greatest(version + 1, {clock})
WHERE name = $1
RETURNING version)";
constexpr const char* read_version = "SELECT version FROM {prefix}lock WHERE name = $1";
constexpr const char* compare_and_set = R"(
UPDATE {prefix}lock SET version = greatest(version + 1, {clock}), owner = $1, thread = $2, acquisition = $3,
  acquired_at = clock_timestamp(), expires_at = clock_timestamp() + $4::bigint * interval '1 microsecond', note = $5
WHERE name = $6 AND version = $7::bigint AND (owner IS NULL OR expires_at <= clock_timestamp())
RETURNING version)";
constexpr const char* add_old =
    "INSERT INTO {prefix}lock (name, version, expires_at) "
    "SELECT 'old/' || n, 1, clock_timestamp() - interval '2 hours' FROM generate_series(1, {rows}) n";
constexpr const char* clock = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
constexpr const char* relaxed = " AND set_config('synchronous_commit', 'off', true) IS NOT NULL";

/// Leaves {prefix} as it is.
std::string text(const char* of, const char* also = "") {
  using fmt::arg;
  return fmt::format(fmt::runtime(of), arg("prefix", "{prefix}"), arg("clock", clock), arg("relaxed", also));
}

std::unique_ptr<test::connection> connect(const std::string& url) {
  return test::connect_postgresql(url, {.application = fmt::format("{} by hand:{}", application, ::getpid())});
}

/// By the server's statistics, which count transactions of a whole database: each of them is one statement here, but
/// where a transaction is kept open it is all of them.
class statistics final : public observer {
 public:
  explicit statistics(std::string url) : url_{std::move(url)} {}

  void watch(const std::vector<pid_t>& processes) override { ids_ = fmt::format("{}", fmt::join(processes, "|")); }

  std::size_t connections() override {
    return static_cast<std::size_t>(connect(url_)->execute("SELECT count(*) " + others()));
  }

  /// A session that ends tells the statistics what it did before it vanishes from the list of sessions.
  long long statements() override {
    const auto server = connect(url_);
    server->execute(fmt::format(
        "DO $$BEGIN WHILE EXISTS (SELECT {}) LOOP PERFORM pg_sleep(0.002), pg_stat_clear_snapshot(); END LOOP; END$$",
        others()));
    return server->execute(
        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()");
  }

 private:
  /// The sessions of those processes but the one that asks.
  std::string others() const {
    return fmt::format(
        "FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^{}.*:({})$' "
        "AND pid <> pg_backend_pid()",
        application, ids_);
  }

  std::string url_;
  std::string ids_ = std::to_string(::getpid());
};

}  // namespace

server postgresql_server(const std::string& url) {
  return {.url = url,
          .database = "postgresql",
          .connect = [url] { return connect(url); },
          .observe = [url] { return std::make_unique<statistics>(url); },
          .upsert = text(upsert),
          .vacate = text(vacate),
          .relaxed_vacate = text(vacate, relaxed),
          .lock_row = text(lock_row),
          .raise_version = text(raise_version),
          .read_version = text(read_version),
          .compare_and_set = text(compare_and_set),
          .write_own = "UPDATE {prefix}own SET changes = changes + 1 WHERE id = $1::integer RETURNING id",
          .add_old = add_old,
          .session_lock = {.name = "pg_advisory_lock",
                           .lock = "SELECT pg_advisory_lock($1::bigint)",
                           .unlock = "SELECT pg_advisory_unlock($1::bigint)"},
          .shared_session_lock = {.name = "pg_advisory_lock_shared",
                                  .lock = "SELECT pg_advisory_lock_shared($1::bigint)",
                                  .unlock = "SELECT pg_advisory_unlock_shared($1::bigint)"}};
}

}  // namespace bench
