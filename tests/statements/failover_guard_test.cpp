#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "server/steps.hpp"
#include "sql/loader.hpp"
#include "statements/asked.hpp"
#include "store/guard.hpp"
#include "store/schema.hpp"
#include "support/background.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/server_database.hpp"
#include "testkit/eventually.hpp"
#ifdef ROWLOCK_WITH_MYSQL
#include "driver/mysql/values.hpp"
#include "support/mysql_database.hpp"
#endif

// Every statement that grants, as it is sent while the guard is on: it grants nothing on a server of another
// incarnation, nothing in a quarantine, nothing after a crash if the guard is relaxed, and otherwise as before.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using sheets::step;
using sheets::verb;
using text_of_step = std::optional<std::string> step::*;

/// The row before the statement.
enum class before : std::uint8_t {
  missing,
  vacant,
  mine,
  shared,      ///< by me
  waited_for,  ///< mine, and another client waits
  passable,    ///< mine, and a set waits that lets others pass
  granted      ///< a release has granted it to my ticket
};

struct grant {
  verb what{};
  text_of_step text{};
  before row{};
};

constexpr std::pair<text_of_step, std::string_view> all_texts[] = {{&step::read, "read"},
                                                                   {&step::write, "write"},
                                                                   {&step::then, "then"},
                                                                   {&step::read_back, "read back"},
                                                                   {&step::batch, "batch"},
                                                                   {&step::batch_then, "batch then"},
                                                                   {&step::batch_skipping, "batch skipping"},
                                                                   {&step::batch_skipping_then, "batch skipping then"},
                                                                   {&step::batch_read_back, "batch read back"},
                                                                   {&step::making, "making"},
                                                                   {&step::batch_making, "batch making"}};

std::string_view name_of(text_of_step text) {
  return std::find_if(std::begin(all_texts), std::end(all_texts), [&](const auto& t) { return t.first == text; })
      ->second;
}

std::ostream& operator<<(std::ostream& out, const grant& g) {
  return out << sheets::name_of(g.what) << ", " << name_of(g.text) << ", row " << static_cast<int>(g.row);
}

constexpr grant granting[] = {{verb::acquire, &step::write, before::missing},
                              {verb::acquire, &step::write, before::vacant},
                              {verb::acquire, &step::batch, before::missing},
                              {verb::acquire, &step::batch, before::vacant},
                              {verb::acquire, &step::batch_skipping, before::missing},
                              {verb::acquire, &step::batch_skipping, before::vacant},
                              {verb::acquire, &step::making, before::missing},
                              {verb::acquire, &step::making, before::vacant},
                              {verb::acquire, &step::batch_making, before::missing},
                              {verb::acquire, &step::batch_making, before::vacant},
                              {verb::acquire_existing, &step::write, before::vacant},
                              {verb::acquire_existing, &step::batch, before::vacant},
                              {verb::acquire_any, &step::batch, before::vacant},
                              {verb::acquire_all, &step::batch, before::vacant},
                              {verb::acquire_in_turn, &step::write, before::missing},
                              {verb::acquire_in_turn, &step::write, before::vacant},
                              {verb::acquire_in_turn, &step::write, before::granted},
                              {verb::compare_and_set, &step::write, before::missing},
                              {verb::compare_and_set, &step::write, before::vacant},
                              {verb::compare_and_set, &step::making, before::missing},
                              {verb::compare_and_set, &step::making, before::vacant},
                              {verb::hold, &step::write, before::vacant},
                              {verb::hold, &step::read_back, before::vacant},
                              {verb::share, &step::write, before::vacant},
                              {verb::share, &step::write, before::shared},
                              {verb::share, &step::batch, before::vacant},
                              {verb::share, &step::batch, before::shared},
                              {verb::share, &step::batch_skipping, before::vacant},
                              {verb::share, &step::batch_skipping, before::shared},
                              {verb::upgrade_share, &step::write, before::shared},
                              {verb::reserve, &step::write, before::mine},
                              {verb::release, &step::write, before::waited_for},
                              {verb::release, &step::write, before::passable},
                              {verb::release, &step::batch, before::waited_for},
                              {verb::release, &step::batch, before::passable},
                              {verb::grant, &step::write, before::waited_for}};
/// Those that write and grant nothing, or serve a holder that the server knows.
constexpr verb other_writes[] = {verb::make,          verb::vacate_expired, verb::renew,         verb::extend,
                                 verb::release_alone, verb::defer_release,  verb::free,          verb::renew_share,
                                 verb::extend_share,  verb::release_share,  verb::downgrade,     verb::purge_shares,
                                 verb::enqueue,       verb::refresh_ticket, verb::leave,         verb::withdraw,
                                 verb::mark_waiting,  verb::clear_waiting,  verb::raise_floor,   verb::sweep,
                                 verb::purge_tickets, verb::applying,       verb::declare_held,  verb::forget_held,
                                 verb::purge_held,    verb::end_session,    verb::probe,         verb::hold_while_alive,
                                 verb::set_guard,     verb::serve_from,     verb::await_relaxed, verb::close_runs,
                                 verb::begin_run,     verb::end_run,        verb::forget_runs};

class failover_guard : public on_each_database {
 protected:
  failover_guard() {
    client::connect(db().url(), {.observer = silent()}).migrate();
    plain_.emplace(db().url());
    guarded_.emplace(db().url(), driver::open_options{.is_guarded = true});
    own_ = store::incarnation_of_server(on_session());
  }

  server_database& server() { return static_cast<server_database&>(db()); }  // NOLINT: it is one
  bool is_postgresql() const { return GetParam().name == "postgresql"; }
  bool is_mariadb() { return !is_postgresql() && db().text("SELECT VERSION()").find("MariaDB") != std::string::npos; }
  store::access on_session() {
    until_ = steps::limits();
    return {.sheet = plain_->sql(), .session = plain_->session(), .until = until_};
  }
  void set(const std::string& incarnation, duration left, bool is_relaxed = false) {
    const auto seen = store::see_guard(on_session()).value();
    ASSERT_TRUE(store::set_guard(on_session(), seen.term,
                                 {.term = seen.term + 1,
                                  .quarantine = duration{1min},
                                  .incarnation = incarnation,
                                  .left = left,
                                  .is_relaxed = is_relaxed},
                                 false));
  }
  /// Calls with the guard as it is on another server, in a quarantine, and when grants have begun.
  void expect_guarded(const std::function<bool()>& is_granted, bool locks_guard = false) {
    set("another server", -1s);
    EXPECT_FALSE(is_granted()) << "on another server";
    set(own_, 1h);
    EXPECT_FALSE(is_granted()) << "in a quarantine";
    set(own_, duration::zero());
    EXPECT_TRUE(is_granted());
    if (is_postgresql()) expect_crash_noticed(is_granted);
    if (locks_guard) return;
    const auto locked = db().transaction("UPDATE rowlock_guard SET term = term + 1");
    EXPECT_TRUE(is_granted()) << "while the guard is being changed";
  }

  /// A crash empties the table of the witness.
  void expect_crash_noticed(const std::function<bool()>& is_granted) {
    set(own_, duration::zero(), true);
    EXPECT_EQ(is_granted(), knows_relaxed_) << "with a relaxed guard";
    db().execute("DELETE FROM rowlock_witness");
    EXPECT_FALSE(is_granted()) << "after a crash";
    db().execute("INSERT INTO rowlock_witness SELECT 1, term - 1 FROM rowlock_guard");
    EXPECT_FALSE(is_granted()) << "with the witness of another row";
    set(own_, 1h, true);
    EXPECT_FALSE(is_granted()) << "in the quarantine";
    set(own_, duration::zero());
    db().execute("DELETE FROM rowlock_witness");
    EXPECT_TRUE(is_granted()) << "after a crash under another guard";
  }

  /// An update of joined tables does.
  bool locks_guard(const grant& g) {
    if (is_postgresql()) return false;
    return g.what == verb::acquire_any || g.what == verb::acquire_all || g.what == verb::grant ||
           g.what == verb::upgrade_share || (g.what == verb::share && g.text == &step::batch) ||
           (g.what == verb::reserve && !is_mariadb());
  }
  bool is_missing(const grant& g) {
    if (!(guarded_->sql()[g.what].*g.text)) return true;
    const bool is_for_mariadb = g.text == &step::making || g.text == &step::batch_making;
    if (is_for_mariadb && !is_mariadb()) return true;
    // On MariaDB only the statements for it make rows.
    if (g.row == before::missing && (g.text == &step::write || g.text == &step::batch) && is_mariadb()) return true;
    if (g.what == verb::compare_and_set && g.row == before::missing && is_postgresql()) return true;
    if (g.what == verb::hold && g.text == &step::write && !is_postgresql()) return true;  // its read back decides
    return g.what == verb::release && guarded_->sql().can().grants_to_a_ticket;  // then it grants nothing itself
  }
  /// Sends no other text than that.
  step only(const grant& g) {
    auto out = guarded_->sql()[g.what];
    if (g.text == &step::read_back) return out;
    const bool is_one = g.text == &step::write || g.text == &step::making;
    auto text = out.*g.text;
    if (g.text == &step::batch_skipping && out.batch_skipping_then) out.batch_then = out.batch_skipping_then;
    out.read = out.making = out.batch_skipping = out.batch_making = std::nullopt;
    (is_one ? out.write : out.batch) = std::move(text);
    if (!is_one) out.write = std::nullopt;
    return out;
  }
  std::vector<driver::row> send(steps& by, const step& what, const asked& one) {
    const auto request = store::positional(what, one.arguments());
    return by.session().run(what, {&request, 1}, steps::limits());
  }
  asked wanted(std::string_view acquisition, std::string_view owner = me) const {
    return {.name = name_,
            .acquisition = acquisition,
            .owner = owner,
            .attempt = ticket_id,
            .lease = 10min,
            .room = room_,
            .version = version_,
            .ticket = ticket_};
  }
  std::vector<driver::row> plainly(verb what, std::string_view acquisition, std::string_view owner = me) {
    return send(*plain_, plain_->sql()[what], wanted(acquisition, owner));
  }
  void enqueue(std::string_view owner, std::int64_t room) {
    room_ = room;
    ticket_ = driver::integer(plainly(verb::enqueue, {}, owner).at(0).at(1));
    room_ = 1;
    if (is_postgresql()) plainly(verb::mark_waiting, {});
  }
  void prepare(before row) {
    name_ = "name/" + std::to_string(++names_);
    version_ = ticket_ = 0;
    if (row == before::missing) return;
    plainly(verb::make, {});
    if (row == before::shared) plainly(verb::share, row_id);
    if (row == before::mine || row == before::waited_for || row == before::passable) plainly(verb::acquire, row_id);
    if (row == before::granted) plainly(verb::acquire, row_id, other);
    if (row == before::waited_for) enqueue(other, -1);
    if (row == before::passable) enqueue(other, -2);
    if (row == before::granted) {
      enqueue(me, -1);
      plainly(verb::release, row_id);
      EXPECT_EQ(state_of_row().acquisition, ticket_id);
      db().execute("UPDATE rowlock_lock SET expires_at = expires_at + INTERVAL '9' SECOND WHERE name = '" + name_ +
                   "'");
    }
  }
  lock_row state_of_row() { return db().row(name_).value_or(lock_row{}); }
  auto state() { return std::tuple{db().rows(), state_of_row(), db().shares(), db().tickets()}; }

  bool grants_with(const grant& g) {
    prepare(g.row);
    if (g.what == verb::compare_and_set) version_ = state_of_row().version;
    const auto was = state();
    const bool joins = g.what == verb::share && g.row == before::shared;
    auto& session = guarded_->session();
    if (g.what == verb::hold) session.begin(steps::limits());
    const auto rows = send(*guarded_, only(g), wanted(joins ? also_id : row_id));
    if (g.what == verb::hold) session.rollback(steps::limits());
    if (g.what == verb::hold) return !rows.empty();
    if (g.what != verb::release) return state() != was;
    EXPECT_EQ(rows.size(), 1U) << "a name is released at any time";
    EXPECT_NE(state_of_row().acquisition.value_or("") == row_id, state_of_row().owner.has_value());
    return state_of_row().owner.has_value();
  }

  static constexpr std::string_view me = "app:here:1:0123456789abcdef";
  static constexpr std::string_view other = "app:there:1:fedcba9876543210";
  static constexpr std::string_view row_id = "0123456789abcdef0000000000000001";
  static constexpr std::string_view also_id = "0123456789abcdef0000000000000002";
  static constexpr std::string_view ticket_id = "fedcba98765432100000000000000001";
  driver::limits until_;
  std::optional<steps> plain_;
  std::optional<steps> guarded_;
  bool knows_relaxed_ = true;
  std::string own_;
  std::string name_;
  std::int64_t version_ = 0;
  std::int64_t ticket_ = 0;
  std::int64_t room_ = 1;
  int names_ = 0;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(failover_guard);
INSTANTIATE_TEST_SUITE_P(on, failover_guard, testing::ValuesIn(server_databases()), database_name);

TEST_P(failover_guard, is_seen_and_changed_by_its_term) {
  const auto at_first = store::see_guard(on_session()).value();
  EXPECT_EQ(at_first.term, 0);
  EXPECT_EQ(at_first.incarnation, "");
  EXPECT_EQ(at_first.quarantine, std::nullopt);
  EXPECT_LE(at_first.left, 0s);
  EXPECT_NE(own_, "");
  set(own_, 1h);
  const auto on_now = store::see_guard(on_session()).value();
  EXPECT_EQ(on_now.term, 1);
  EXPECT_EQ(on_now.incarnation, own_);
  EXPECT_EQ(on_now.quarantine, duration{1min});
  EXPECT_GT(on_now.left, 59min);
  EXPECT_LE(on_now.left, 1h);
  EXPECT_GE(on_now.since, at_first.since);
  EXPECT_FALSE(store::set_guard(on_session(), 0, {.term = 2}, true)) << "another client was first";
  EXPECT_TRUE(store::set_guard(on_session(), 1, {.term = 2}, true));
  EXPECT_EQ(store::see_guard(on_session()).value().incarnation, "");
  db().execute("DROP TABLE rowlock_guard");
  EXPECT_FALSE(store::see_guard(on_session()));
}

TEST_P(failover_guard, begins_with_a_quarantine_if_a_longer_lease_is_out) {
  const auto left_with = [&](duration quarantine) {
    const auto term = store::see_guard(on_session()).value().term;
    EXPECT_TRUE(
        store::set_guard(on_session(), term, {.term = term + 1, .quarantine = quarantine, .incarnation = own_}, true));
    return store::see_guard(on_session()).value().left;
  };
  prepare(before::mine);
  EXPECT_LE(left_with(11min), 0s);
  EXPECT_GT(left_with(9min), 8min);
  db().vacate(name_);
  EXPECT_LE(left_with(9min), 0s);
}

TEST_P(failover_guard, refuses_older_programs_when_it_is_told) {
  const auto newest = db().newest_migration();
  store::serve_from(on_session(), newest, newest);
  EXPECT_EQ(db().number("SELECT serves_from FROM rowlock_migration WHERE version = " + std::to_string(newest)), newest);
}

TEST_P(failover_guard, is_tested_by_every_statement_that_grants) {
  for (const bool knows_relaxed : {false, true}) {
    if (knows_relaxed && !is_postgresql()) continue;
    SCOPED_TRACE(knows_relaxed);
    knows_relaxed_ = knows_relaxed;
    guarded_.emplace(db().url(), driver::open_options{.is_guarded = true, .may_relax = knows_relaxed});
    for (const grant& each : granting) {
      if (is_missing(each)) continue;
      SCOPED_TRACE(testing::PrintToString(each));
      expect_guarded([&] { return grants_with(each); }, locks_guard(each));
    }
  }
}

auto number_of_conditions(const std::optional<std::string>& text) {
  return text ? sheets::replaced(*text, "grants_from", "grants_from ").size() - text->size() : 0;
}

// A verb or a text that is new belongs to one of the lists.
TEST_P(failover_guard, is_tested_by_no_other_statement) {
  using texts = std::set<std::pair<std::string_view, std::string_view>>;
  texts tried;
  texts guarded;
  std::set<verb> known{std::begin(other_writes), std::end(other_writes)};
  for (const grant& each : granting) {
    if (!is_missing(each)) tried.emplace(sheets::name_of(each.what), name_of(each.text));
    known.insert(each.what);
  }
  for (std::size_t i = 0; i < sheets::sheet::size; ++i) {
    const auto what = static_cast<verb>(i);
    const auto& sent = guarded_->sql()[what];
    for (const auto& [text, name] : all_texts) {
      const bool is_for_mariadb = text == &step::making || text == &step::batch_making;
      if (number_of_conditions(sent.*text) != number_of_conditions(plain_->sql()[what].*text) &&
          (!is_for_mariadb || is_mariadb()))
        guarded.emplace(sheets::name_of(what), name);
    }
    EXPECT_TRUE(!(sent.write || (sent.batch && !sent.read)) || known.contains(what)) << sheets::name_of(what);
  }
  EXPECT_EQ(tried, guarded);
}

#ifdef ROWLOCK_WITH_POSTGRESQL
class relaxed_guard : public failover_guard {
 protected:
  relaxed_guard() {
    guarded_.emplace(db().url(), driver::open_options{.is_guarded = true, .may_relax = true});
    set(own_, duration::zero(), true);
    db().execute(
        "CREATE TABLE seen (setting text); GRANT ALL ON seen TO PUBLIC; CREATE FUNCTION see() RETURNS trigger LANGUAGE "
        "plpgsql AS $$ BEGIN "
        "INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$; "
        "CREATE TRIGGER see_locks AFTER INSERT OR UPDATE OR DELETE ON rowlock_lock EXECUTE FUNCTION see()");
  }

  void begin_to_relax() { db().execute("UPDATE rowlock_guard SET relaxed_from = clock_timestamp()"); }
  /// Those that {durably} is in.
  static std::vector<grant> all() {
    std::vector<grant> out{
        {verb::renew, &step::write, before::mine},         {verb::renew, &step::batch, before::mine},
        {verb::extend, &step::write, before::mine},        {verb::extend, &step::batch, before::mine},
        {verb::defer_release, &step::write, before::mine}, {verb::defer_release, &step::batch, before::mine},
        {verb::free, &step::write, before::mine},          {verb::downgrade, &step::write, before::mine},
        {verb::renew_share, &step::batch, before::shared}, {verb::extend_share, &step::batch, before::shared}};
    for (const grant& each : granting)
      if (each.what != verb::hold && each.what != verb::release) out.push_back(each);
    return out;
  }
  /// The settings with which the statement committed, of this session or a pooler's.
  std::set<std::string> settings_of(const grant& g) {
    prepare(g.row);
    if (g.what == verb::compare_and_set || g.what == verb::free) version_ = state_of_row().version;
    if (g.what == verb::renew_share || g.what == verb::extend_share)
      db().execute("UPDATE rowlock_lock SET expires_at = expires_at - interval '1 minute' WHERE name = '" + name_ +
                   "'");
    db().execute("DELETE FROM seen");
    send(*guarded_, only(g), wanted(g.what == verb::share && g.row == before::shared ? also_id : row_id));
    std::set<std::string> out;
    for (const auto& row : db().ask("SELECT setting FROM seen")) out.insert(row.at(0).value());
    return out;
  }
  void expect_settings(const std::set<std::string>& expected) {
    for (const bool pooled : {false, true}) {
      guarded_.emplace(db().url(),
                       driver::open_options{.transaction_pooling = pooled, .is_guarded = true, .may_relax = true});
      for (const grant& each : all()) {
        if (is_missing(each)) continue;
        EXPECT_EQ(settings_of(each), expected) << each;
      }
    }
  }
  bool tighten(const driver::limits& until) {
    const auto seen = store::see_guard(on_session()).value();
    auto next = seen;
    ++next.term;
    next.is_relaxed = false;
    const store::access on{.sheet = plain_->sql(), .session = plain_->session(), .until = until};
    return store::tighten_guard(on, seen.term, next, false);
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(relaxed_guard);
INSTANTIATE_TEST_SUITE_P(on, relaxed_guard, testing::ValuesIn(databases_named("postgresql")), database_name);

TEST_P(relaxed_guard, lets_no_commit_wait_for_the_disk) {
  begin_to_relax();
  expect_settings({"off"});
}

// Clients may believe for 20 s that the guard is off.
TEST_P(relaxed_guard, waits_for_the_disk_until_all_clients_know_it) {
  EXPECT_EQ(db().number("SELECT (extract(epoch FROM relaxed_from - since))::integer FROM rowlock_guard"), 20);
  expect_settings({"on"});
}

TEST_P(relaxed_guard, lets_a_client_that_does_not_know_it_wait_for_the_disk) {
  begin_to_relax();
  guarded_.emplace(db().url(), driver::open_options{.is_guarded = true});
  for (const grant& each : all()) {
    if (is_missing(each)) continue;
    EXPECT_FALSE(settings_of(each).contains("off")) << each;
  }
}

TEST_P(relaxed_guard, remains_relaxed_when_it_is_changed) {
  begin_to_relax();
  set(own_, duration::zero(), true);
  EXPECT_EQ(settings_of({verb::acquire, &step::write, before::vacant}), std::set<std::string>{"off"});
}

TEST_P(relaxed_guard, waits_for_the_disk_after_a_crash_until_it_was_noticed) {
  begin_to_relax();
  db().execute("DELETE FROM rowlock_witness");
  EXPECT_EQ(settings_of({verb::renew, &step::write, before::mine}), std::set<std::string>{"on"});
}

TEST_P(relaxed_guard, is_tightened_once_relaxed_statements_have_committed) {
  begin_to_relax();
  const driver::limits brief{.deadline = base::later(base::now(), 500ms)};
  prepare(before::mine);
  guarded_->session().begin(steps::limits());
  EXPECT_FALSE(send(*guarded_, guarded_->sql()[verb::renew], wanted(row_id)).empty());
  EXPECT_TRUE(throws(errc::call_timed_out, [&] { tighten(brief); }));
  guarded_->session().commit(steps::limits());
  prepare(before::vacant);
  guarded_->session().begin(steps::limits());
  EXPECT_FALSE(send(*guarded_, guarded_->sql()[verb::hold], wanted(row_id)).empty());
  EXPECT_TRUE(tighten(steps::limits())) << "beside a transaction that is open for long";
  guarded_->session().rollback(steps::limits());
  EXPECT_EQ(settings_of({verb::acquire, &step::write, before::vacant}), std::set<std::string>{"on"});
}

class callers_guard_on_postgresql : public failover_guard {
 protected:
  sql_rows ask(const std::string& text, std::int64_t version) {
    const std::string asked[] = {name_, store::installation(on_session())};
    const auto literal = [&](std::size_t place) {
      if (place < 2) return "'" + driver::hex(asked[place]) + "'";
      return version != 0 ? std::to_string(version) : std::string{"NULL"};
    };
    return db().ask(sheets::with_literals(text, '$', '"', literal));
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(callers_guard_on_postgresql);
INSTANTIATE_TEST_SUITE_P(on, callers_guard_on_postgresql, testing::ValuesIn(databases_named("postgresql")),
                         database_name);

TEST_P(callers_guard_on_postgresql, is_tested_by_every_statement_that_locks) {
  const auto sent = sheets::postgresql_enlisted("rowlock_", server().name() + ".", true);
  for (const auto* text : {&sent.take_vacant, &sent.take, &sent.await, &sent.set}) {
    SCOPED_TRACE(*text);
    expect_guarded([&] {
      prepare(before::vacant);
      const auto was = state();
      const auto found = ask(*text, text == &sent.set ? state_of_row().version : 0);
      EXPECT_TRUE(text == &sent.take_vacant || found.at(0).at(0) == "1" || found.at(0).at(0) == "t");
      return state() != was;
    });
  }
}
#endif

#ifdef ROWLOCK_WITH_MYSQL
class callers_guard_on_mysql : public failover_guard {
 protected:
  callers_guard_on_mysql() { set_level("REPEATABLE READ"); }

  my_connection connect() { return my_connection{server().address()}; }
  void set_level(const std::string& level) {
    level_ = level;
    // The session's clock is not that of the guard.
    setup_ = "SET SESSION TRANSACTION ISOLATION LEVEL " + level + "; SET time_zone = '-11:00'; START TRANSACTION";
  }
  sheets::enlisted_texts sent() { return sheets::mysql_enlisted("rowlock_", "`" + server().name() + "`.", true); }
  std::string with_arguments(const std::string& text, driver::argument second) {
    const driver::argument asked[] = {std::string_view{name_}, second};
    return driver::with_literals(text, asked);
  }
  bool is_unlocked() {
    return db().ask("SELECT name FROM rowlock_lock WHERE name = '" + name_ + "' FOR UPDATE SKIP LOCKED").size() == 1;
  }

  std::string level_;
  std::string setup_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(callers_guard_on_mysql);
INSTANTIATE_TEST_SUITE_P(on, callers_guard_on_mysql, testing::ValuesIn(databases_named("mysql")), database_name);

TEST_P(callers_guard_on_mysql, is_tested_by_every_statement_that_locks) {
  const auto texts = sent();
  for (const std::string level : {"REPEATABLE READ", "READ COMMITTED"})
    for (const auto* text : {&texts.take, &texts.await, &texts.set})
      for (const auto row : {before::vacant, before::mine}) {  // the latter as if its client had released it
        const bool sets = text == &texts.set;
        if (sets && row == before::mine) continue;
        set_level(level);
        SCOPED_TRACE(testing::Message{} << level << *text << static_cast<int>(row));
        expect_guarded([&] {
          prepare(row);
          const auto caller = connect();
          caller.run_script(setup_);
          const auto second = sets                  ? driver::argument{state_of_row().version}
                              : row == before::mine ? driver::argument{row_id}
                                                    : driver::argument{std::monostate{}};
          const auto found = caller.run(with_arguments(*text, second));
          const bool is_granted = found.rows() == 1 && (sets || found.number(0, 1) == 1);
          EXPECT_TRUE(is_granted || level != "READ COMMITTED" || found.rows() == 0U);
          EXPECT_TRUE(!is_granted || !is_unlocked());
          return is_granted;
        });
      }
}

// It must not begin the transaction's snapshot before the row is locked.
TEST_P(callers_guard_on_mysql, is_read_after_the_row_is_locked) {
  const auto texts = sent();
  set(own_, duration::zero());
  for (const bool waits : {true, false}) {
    SCOPED_TRACE(waits);
    prepare(before::vacant);
    const auto before = connect();
    before.run_script("START TRANSACTION; UPDATE rowlock_lock SET version = version + 1 WHERE name = '" + name_ + "'");
    const auto caller = connect();
    caller.run_script(setup_);
    const auto ask = [&](const std::string& text) { return caller.run(with_arguments(text, std::monostate{})); };
    if (waits) {
      background waiting{[&](const std::stop_token&) { return ask(texts.await).number(0, 6); }};
      EXPECT_TRUE(eventually([&] { return db().is_kept_waiting(); }));
      before.run("COMMIT");
      EXPECT_EQ(waiting.get(), 1);
    } else {
      EXPECT_EQ(ask(texts.take).rows(), 0U);
      before.run("COMMIT");
      EXPECT_EQ(ask(texts.take).number(0, 6), 1);
    }
  }
}
#endif

}  // namespace
}  // namespace rowlock::test
