#include "core/diagnosis.hpp"

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/checks.hpp"

namespace rowlock::inline v1::core {

namespace {

using namespace std::chrono_literals;

/// The sentence is said if the setting has a value that is not in `good`.
struct rule {
  std::string_view name;
  std::initializer_list<std::string_view> good;
  std::string_view sentence;
};

std::string_view value_of(const settings& found, std::string_view name) {
  const auto at = found.find(name);
  return at == found.end() ? std::string_view{} : at->second;
}

bool is_broken(const rule& r, const settings& found) {
  const auto at = found.find(r.name);
  if (at == found.end()) return false;
  for (const auto& value : r.good)
    if (at->second == value) return false;
  return true;
}

const rule about_the_log[] = {
    {"fsync", {"on"}, "a crash of the server's machine may lose granted locks and damage the database; set it to on"},
    {"full_page_writes", {"on"}, "a crash of the server's machine may damage the tables; set it to on"},
    {"innodb_flush_log_at_trx_commit", {"1"}, "a crash of the server's machine may lose granted locks; set it to 1"},
    {"journal_mode",
     {"wal", "memory"},
     "readers and the writer block each other; PRAGMA journal_mode=WAL makes it faster"}};

// A crash rolls back what has not reached the binary log.
constexpr std::string_view lazy_binary_log =
    "with a binary log that does not reach the disk at each commit (sync_binlog is not 1), a crash of the server's "
    "machine may lose granted locks; set sync_binlog to 1";

finding advice(std::string_view subject, std::string sentence) {
  return {.subject = std::string{subject}, .condition = condition::advice, .sentence = std::move(sentence)};
}

finding fine(std::string_view subject, std::string sentence) {
  return {.subject = std::string{subject}, .condition = condition::ok, .sentence = std::move(sentence)};
}

/// With one digit after the point.
std::string with_tenth(duration d, duration unit, std::string_view name) {
  const auto tenths = (d * 10 + unit / 2) / unit;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + ' ' + std::string{name};
}

std::string as_milliseconds(duration d) { return with_tenth(d, 1ms, "ms"); }
std::string as_seconds(duration d) { return with_tenth(d, 1s, "s"); }

std::string server_of(const settings& found) {
  if (const auto name = value_of(found, "server"); !name.empty()) return std::string{name};
  const auto version = value_of(found, "version");
  return (version.find("MariaDB") == std::string_view::npos ? "MySQL " : "MariaDB ") + std::string{version};
}

/// Servers write "TLSv1.3". With a proxy, this is the encryption of the proxy's connection.
std::string encryption_of(const settings& found) {
  constexpr std::string_view prefix = "TLSv";
  auto version = value_of(found, "ssl_version");
  if (!version.starts_with(prefix)) return value_of(found, "gss") == "true" ? "encrypted by GSSAPI" : "not encrypted";
  version.remove_prefix(prefix.size());
  return "encrypted by TLS " + std::string{version} + " (" + std::string{value_of(found, "ssl_cipher")} + ')';
}

constexpr std::string_view none_seen = "none seen";
constexpr std::string_view unseen_replicas =
    "none seen, but a server with a binary log may have replicas; if one of them may be promoted, switch on a guard "
    "(rowlock guard --quarantine 60s)";
constexpr std::string_view lost_in_failover =
    ", none of them synchronous, so a failover may lose the locks that were granted just before it; switch on a guard "
    "(rowlock guard --quarantine 60s); confirm in the same database is safe without";

/// After what was seen of the cluster, or alone if a quarantine is on.
std::string guard_in_words(const guard_status& guard) {
  if (guard.left)
    return "a quarantine is on, as a failover or a crash may have lost the last commits, or longer leases are out: "
           "nothing is granted for " +
           in_whole_seconds(*guard.left);
  return guard.quarantine ? "; a guard is on, with a quarantine of " + in_whole_seconds(*guard.quarantine) : "";
}

}  // namespace

finding connection_of(const settings& found, duration took) {
  std::string sentence = server_of(found);
  if (const auto user = value_of(found, "user"); !user.empty()) sentence.append(", as ").append(user);
  if (const auto place = value_of(found, "database"); !place.empty()) sentence.append(", in ").append(place);
  if (found.contains("ssl_version")) sentence.append(", ").append(encryption_of(found));
  return fine("connection", sentence + "; answers in " + as_milliseconds(took));
}

// No other finding depends on it.
finding clock_of(duration ahead) {
  const bool is_behind = ahead < duration::zero();
  const duration apart = is_behind ? -ahead : ahead;
  const std::string where = is_behind ? " behind this host's" : " ahead of this host's";
  if (apart < 100ms) return fine("clock", "the same as this host's");
  if (apart < 1s) return fine("clock", as_milliseconds(apart) + where);
  return advice("clock", as_seconds(apart) + where +
                             "; locks use the database's clock alone, but jobs that are started by the hosts' clocks "
                             "need an at_least that is longer than this difference");
}

finding log_of(const settings& found) {
  std::string sentence;
  const auto add = [&](std::string_view more) { sentence.append(sentence.empty() ? "" : "; ").append(more); };
  for (const rule& r : about_the_log)
    if (is_broken(r, found))
      add(std::string{r.name} + " is " + found.find(r.name)->second + ": " + std::string{r.sentence});
  if (value_of(found, "log_bin") == "ON" && is_broken({"sync_binlog", {"1"}, {}}, found)) add(lazy_binary_log);
  if (!sentence.empty()) return advice("log settings", sentence);
  return fine("log settings", "granted locks survive a crash of the server");
}

finding cluster_of(const settings& found, const guard_status& guard) {
  if (value_of(found, "wsrep_on") == "ON")
    return advice("cluster",
                  "Galera: a lock by for_update or lock_in is held on its own node only; connect all clients of the "
                  "locks to one node, or use leases");
  if (!value_of(found, "group_replication_group_name").empty())
    return advice("cluster", "group replication: connect all clients of the locks to the primary");
  const auto about_guard = guard_in_words(guard);
  if (guard.left) return advice("cluster", about_guard);
  if (const auto standbys = value_of(found, "standbys"); !standbys.empty() && standbys != "0") {
    const auto count = std::string{standbys} + " standbys";
    if (!value_of(found, "synchronous_standby_names").empty())
      return fine("cluster", count + "; commits wait for those in synchronous_standby_names" + about_guard);
    if (guard.quarantine) return fine("cluster", count + ", none of them synchronous" + about_guard);
    return advice("cluster", count + std::string{lost_in_failover});
  }
  const bool may_have_replicas = value_of(found, "log_bin") == "ON" && !guard.quarantine;
  return fine("cluster", std::string{may_have_replicas ? unseen_replicas : none_seen} + about_guard);
}

}  // namespace rowlock::inline v1::core
