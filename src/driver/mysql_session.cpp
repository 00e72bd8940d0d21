#include "driver/mysql_session.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "core/error_detail.hpp"
#include "driver/boot_clock.hpp"
#include "driver/mysql_errors.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

constexpr const char* setting_up = "setting up the connection";
constexpr const char* migrating = "migrating";
constexpr const char* beginning = "beginning a transaction";
constexpr const char* waiting_to_migrate = "waiting for another client's migration";
constexpr int no_such_session = 1094;
constexpr std::size_t thread = 3;  // where rows are as verb::inspect answers them
// Names of locks end at 64 characters.
constexpr const char* migration_lock = "SHA2(CONCAT('rowlock migration ', DATABASE()), 224)";

std::string random_mark() {
  std::random_device device;
  const std::uint64_t number = (std::uint64_t{device()} << 32U) | device();
  return "rowlock." + std::to_string(number);
}

// Seconds, with a point.
std::string seconds_text(duration d) {
  const auto all = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  const auto thousandths = std::to_string(1000 + all % 1000);
  return std::to_string(all / 1000) + "." + thousandths.substr(1);
}

struct server_version {
  mysql_kind kind = mysql_kind::mysql;
  int major = 0;
  int minor = 0;

  const char* name() const { return kind == mysql_kind::mariadb ? "MariaDB" : "MySQL"; }
  bool is_new_enough() const {
    const auto least = kind == mysql_kind::mariadb ? std::pair{10, 6} : std::pair{8, 0};
    return std::pair{major, minor} >= least;
  }
};

server_version read_version(std::string_view text) {
  constexpr std::string_view for_old_replicas = "5.5.5-";  // which MariaDB may put in front
  server_version out;
  if (text.find("MariaDB") != std::string_view::npos) out.kind = mysql_kind::mariadb;
  if (out.kind == mysql_kind::mariadb && text.starts_with(for_old_replicas))
    text.remove_prefix(for_old_replicas.size());
  const auto* const end = text.data() + text.size();
  const auto [point, failure] = std::from_chars(text.data(), end, out.major);
  if (failure == std::errc{} && point != end) std::from_chars(point + 1, end, out.minor);
  return out;
}

// Whatever the server's defaults are. MariaDB's lock waits can be none at all; MySQL's are a second at least, so its
// statements lock no row that is not free. Waits for a table (somebody changes it, or has locked it) are the client's
// to end.
std::string settings(mysql_kind kind, const mysql_options& options) {
  const auto seconds = [](duration d) { return std::to_string(std::chrono::ceil<std::chrono::seconds>(d).count()); };
  std::string out =
      "SET NAMES utf8mb4, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION time_zone = "
      "'+00:00', SESSION autocommit = 1, SESSION sql_safe_updates = 0, SESSION sql_big_selects = 1, "
      "SESSION lock_wait_timeout = " +
      seconds(options.call_timeout + 1s) +
      ", SESSION innodb_lock_wait_timeout = " + (kind == mysql_kind::mariadb ? "0" : "1");
  if (!options.transaction_limit) return out;
  // MariaDB tells a session that is idle in a transaction from one that is idle.
  const auto limit = seconds(*options.transaction_limit);
  if (kind == mysql_kind::mysql) return out.append(", SESSION wait_timeout = ").append(limit);
  out.append(", SESSION idle_transaction_timeout = ").append(limit);
  out.append(", SESSION idle_readonly_transaction_timeout = ").append(limit);
  out.append(", SESSION idle_write_transaction_timeout = ").append(limit);
  return out.append(", SESSION wait_timeout = 28800");
}
// Before anything that answers with more than one row.
constexpr const char* all_rows = "SET SESSION sql_select_limit = 18446744073709551615";
constexpr const char* isolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

// SYSDATE() has to go on while a statement waits, which an option of the server's can forbid.
constexpr const char* clock_goes_on = "SELECT SLEEP(0.001) + (SYSDATE(6) > NOW(6))";

[[noreturn]] void refuse(errc code, const std::string& sentence) { throw error{code, sentence}; }

}  // namespace

mysql_session::mysql_session(mysql_connecting& to, mysql_options options, line_cutter& cutter, const limits& until)
    : options_{std::move(options)},
      must_be_encrypted_{to.address().must_be_encrypted()},
      connection_{to.connect(until)},
      line_{"MySQL", cutter, connection_->socket(),
            [this] {
              if (is_marked_ && options_.lost) options_.lost(mark_);
            }},
      mark_{random_mark()} {
  set_up(until);
}

void mysql_session::set_up(const limits& until) {
  simple(all_rows, {setting_up}, until);
  learn_server(until);
  if (must_be_encrypted_) require_encryption(until);
  simple(settings(kind_, options_), {setting_up}, until);
  simple(isolation, {setting_up}, until);
  if (text(simple(clock_goes_on, {setting_up}, until).at(0).at(0)) != "1")
    refuse(
        errc::unsupported,
        "this server runs with sysdate_is_now, so its clock stands still while a statement waits, and rowlock's tokens "
        "would run backwards; start it without that option");
  try {
    is_marked_ = text(simple("SELECT GET_LOCK('" + mark_ + "', 0)", {setting_up}, until).at(0).at(0)) == "1";
  } catch (const error& e) {
    if (e.connection_is_unusable()) throw;  // else this server has no such locks, as some clusters
  }
}

void mysql_session::learn_server(const limits& until) {
  std::map<std::string, std::string, std::less<>> found;
  for (const row& r : simple("SHOW VARIABLES WHERE Variable_name IN ('version', 'log_bin', 'binlog_format', "
                             "'innodb_flush_log_at_trx_commit', 'read_only')",
                             {setting_up}, until))
    found.emplace(text(r.at(0)), text(r.at(1)));
  const auto is = [&](const char* name, std::string_view value) { return found[name] == value; };

  const auto version = read_version(found["version"]);
  if (!version.is_new_enough())
    refuse(errc::unsupported, std::string{"this server is "} + version.name() + " " + found["version"] +
                                  "; rowlock needs MySQL 8.0 or MariaDB 10.6, or newer");
  kind_ = version.kind;
  line_.rename(version.name());
  if (is("log_bin", "ON") && is("binlog_format", "STATEMENT"))
    refuse(errc::unsupported,
           "this server writes its binary log by statement, and then refuses to write at READ COMMITTED, which rowlock "
           "needs; set binlog_format to ROW or MIXED");
  if (!is("read_only", "OFF") && !is("read_only", "0") && !found["read_only"].empty())
    throw detail::error_access::make(errc::connection_failed,
                                     "this server is read-only, as a replica is; connect to the primary",
                                     {.retryable = true, .connection_unusable = true});
  if (!is("innodb_flush_log_at_trx_commit", "1") && options_.warning)
    options_.warning("this server has innodb_flush_log_at_trx_commit = " + found["innodb_flush_log_at_trx_commit"] +
                     ": a crash of its machine may lose locks that were granted");
}

void mysql_session::require_encryption(const limits& until) {
  const auto rows = simple("SHOW SESSION STATUS LIKE 'Ssl_cipher'", {setting_up}, until);
  if (rows.empty() || text(rows[0].at(1)).empty())
    refuse(errc::connection_failed,
           "ssl-mode asks for encryption, and this session is not encrypted: the server offers none, or the connector "
           "cannot");
}

// --- one round trip --------------------------------------------------------------------------------------------------

template <class Send>
auto mysql_session::call(const purpose& why, const limits& until, Send send) {
  // Of a transaction that is not committed nothing becomes.
  const purpose what{.doing = why.doing, .writing = why.writing && !is_in_transaction_};
  return line_.call(what, until, send, [&](const std::exception& e) { fail(e, what); });
}

std::vector<row> mysql_session::simple(const std::string& sql, const purpose& why, const limits& until) {
  return call(why, until, [&] {
    std::vector<row> out;
    connection_->execute(sql, out);
    return out;
  });
}

std::uint64_t mysql_session::execute(const std::string& text, const request& values, const purpose& why,
                                     const limits& until, std::vector<row>& to) {
  known_statement& s = known(text);
  std::vector<const argument*> in_order;
  in_order.reserve(s.of.arguments.size());
  for (const std::size_t place : s.of.arguments) in_order.push_back(&values.at(place));
  return call(why, until, [&] {
    if (!s.prepared) s.prepared = connection_->prepare(s.of.sql);
    return s.prepared->execute(in_order, to);
  });
}

// They are few, and of different lengths: to look at them all is cheaper than to hash a long text.
mysql_session::known_statement& mysql_session::known(const std::string& text) {
  for (known_statement& each : statements_)
    if (each.text == text) return each;
  return statements_.emplace_back(known_statement{.text = text, .of = for_server(text, kind_), .prepared = {}});
}

void mysql_session::fail(const std::exception& e, const purpose& why) {
  const auto what = sql_failure_of(e);
  // What is none of the server's errors leaves the connection in a state that nobody knows.
  const bool is_lost = !what || what->code == 0 || is_about_mysql_connection(what->code);
  if (is_lost) line_.die();
  if (!what) std::rethrow_exception(std::current_exception());
  throw mysql_error({.code = what->code,
                     .sqlstate = what->sqlstate,
                     .message = what->message,
                     .connection_lost = is_lost,
                     .writing = why.writing},
                    line_.server(), why.doing);
}

// --- the session -----------------------------------------------------------------------------------------------------

// Most steps write in one statement and are told in another what it has done. If it is the second that fails, even if
// only for want of time (max_execution_time is for SELECT alone), what the first has committed stays.
std::vector<row> mysql_session::do_run(const dialect::step& what, std::span<const request> batch,
                                       const limits& until) try {
  has_committed_ = false;
  std::vector<row> rows;
  const bool takes_batches = batch.size() == 1 || !what.many.empty();
  if (takes_batches && !batch.empty()) {
    carry_out(what, batch, until, rows);
  } else {
    for (std::size_t i = 0; i < batch.size(); ++i) carry_out(what, batch.subspan(i, 1), until, rows);
  }
  return rows;
} catch (const error& e) {
  if (!has_committed_ || e.outcome_is_unknown()) throw;
  throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
}

void mysql_session::carry_out(const dialect::step& what, std::span<const request> batch, const limits& until,
                              std::vector<row>& to) {
  const bool is_one = batch.size() == 1 && !(what.look.empty() && what.act.empty());
  const std::string& act = is_one ? what.act : what.many;
  const std::string& told = is_one ? what.told : what.many_told;
  const std::string json = is_one ? std::string{} : json_of(batch);
  const request values = is_one ? batch[0] : request{std::string_view{json}};
  const purpose why{.doing = dialect::doing(what.verb), .writing = !what.act.empty() || what.look.empty()};

  if (what.uncommitted) return append_uncommitted(what, values, until, to);
  const auto answered = [&, before = to.size()] { return to.size() - before; };
  if (is_one && !what.look.empty()) execute(what.look, values, why, until, to);
  if (act.empty() || answered() == batch.size()) return;
  const auto changed = execute_or_skip(act, values, why, until, to);
  has_committed_ = has_committed_ || (changed + answered() > 0 && why.writing && !is_in_transaction_);
  // writing, both times: what act has done is not known without it
  if (what.counts) return tell_counted(what, batch, changed, told, values, why, until, to);
  if (what.always_changes && changed == 0) return;
  if (!told.empty() && answered() < batch.size()) execute(told, values, why, until, to);
}

// A version that only a dirty read sees belongs to a transaction that is under way, unless it was committed, and others
// may have been, between the reads.
void mysql_session::append_uncommitted(const dialect::step& what, const request& values, const limits& until,
                                       std::vector<row>& to) {
  const purpose why{dialect::doing(what.verb)};
  const auto read = [&] {
    std::vector<row> rows;
    execute(what.look, values, why, until, rows);
    return rows;
  };
  const auto by_name = [](std::vector<row> rows) {
    std::map<std::string, row> out;
    for (row& r : rows) out.emplace(text(r.at(0)), std::move(r));
    return out;
  };
  const auto version_of = [](const row& r) { return integer(r.at(1)); };
  const auto before = by_name(read());
  simple("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", why, until);  // the next one
  auto dirty = read();
  const auto after = by_name(read());
  for (row& r : dirty) {
    const auto was = before.find(text(r.at(0)));
    if (was == before.end() || version_of(was->second) == version_of(r)) continue;
    const auto is = after.find(was->first);
    if (is == after.end() || version_of(is->second) != version_of(was->second)) continue;
    if (r.back() == was->second.back()) r.at(thread) = {};  // which an older program has left as it was
    r.pop_back();
    to.push_back(std::move(r));
  }
}

// Of a batch that was not carried out as a whole, `told` answers, for each request that its row still knows of, whether
// it could be carried out yet. If those that could are all that miss, the others were carried out, whoever has their
// rows by now.
void mysql_session::tell_counted(const dialect::step& what, std::span<const request> batch, std::uint64_t changed,
                                 const std::string& told, const request& values, const purpose& why,
                                 const limits& until, std::vector<row>& to) {
  const auto key_of = [&](const request& r) { return std::string{std::get<std::string_view>(r.at(what.key))}; };
  std::vector<row> rows;
  if (changed < batch.size() && !told.empty()) execute(told, values, why, until, rows);
  std::set<std::string> open;
  for (const row& r : rows)
    if (integer(r.at(1)) != 0) open.insert(text(r.at(0)));
  if (changed + open.size() >= batch.size()) {
    for (const request& r : batch)
      if (!open.contains(key_of(r))) to.push_back({key_of(r)});
  } else {
    for (const row& r : rows)
      if (!open.contains(text(r.at(0)))) to.push_back({text(r.at(0))});
  }
}

// As if the row had been skipped.
std::uint64_t mysql_session::execute_or_skip(const std::string& text, const request& values, const purpose& why,
                                             const limits& until, std::vector<row>& to) try {
  return execute(text, values, why, until, to);
} catch (const error& e) {
  if (!was_in_conflict(e.native_code()) || !why.writing) throw;
  return 0;
}

void mysql_session::do_begin(const limits& until) {
  simple("START TRANSACTION", {beginning}, until);
  is_in_transaction_ = true;
}

void mysql_session::do_commit(const limits& until) {
  is_in_transaction_ = false;
  simple("COMMIT", {.doing = "committing", .writing = true}, until);
}

void mysql_session::do_rollback(const limits& until) {
  is_in_transaction_ = false;
  simple("ROLLBACK", {"rolling back"}, until);
}

// Statements that change tables commit by themselves, so this is not all or nothing: a file of the schema can be run
// again, and marks itself as applied at its end.
void mysql_session::exclusively(const std::function<void()>& body, const limits& until) {
  const bool is_limited = until.deadline != core::instant::max();
  const duration left = is_limited ? std::max<duration>(until.deadline - now(), 2ms) : duration{24h};
  const auto got =
      simple(std::string{"SELECT GET_LOCK("} + migration_lock + ", " + seconds_text(left - left / 10) + ")",
             {waiting_to_migrate}, until);
  if (text(got.at(0).at(0)) != "1")
    throw detail::error_access::make(errc::call_timed_out,
                                     line_.server() + ", while " + waiting_to_migrate + ": it took too long",
                                     {.retryable = true});
  const auto let_go = [&] {
    if (line_.is_dead()) return;
    try {
      simple(std::string{"DO RELEASE_LOCK("} + migration_lock + ")", {migrating}, until);
    } catch (const error&) {
      line_.close_later();  // which lets go too
    }
  };
  around_ = until;
  try {
    body();
  } catch (...) {
    around_ = {};
    let_go();
    throw;
  }
  around_ = {};
  let_go();
}

void mysql_session::do_script(const std::string& sql) {
  const limits alone{.deadline = core::later(now(), options_.call_timeout)};
  const limits until = around_.deadline == core::instant::max() ? alone : around_;
  for (const auto& statement : statements_of(sql)) simple(statement, {.doing = migrating, .writing = true}, until);
}

void mysql_session::end_session(const std::string& mark, const limits& until) {
  const timed scope{times(), chore::ending_sessions};
  const auto found = simple("SELECT IS_USED_LOCK('" + mark + "')", {"ending a lost session"}, until);
  const auto id = text(found.at(0).at(0));
  if (!id.empty()) simple("KILL " + id, {"ending a lost session"}, until);
}

void mysql_session::end_session(std::int64_t number, const limits& until) try {
  simple("KILL " + std::to_string(number), {.doing = "ending another session", .writing = true}, until);
} catch (const error& e) {
  if (e.native_code() != no_such_session) throw;
}

std::int64_t mysql_session::do_change_count(const limits& /*until*/) {
  throw error{errc::unsupported, "MySQL does not count what others commit"};
}

}  // namespace rowlock::inline v1::driver
