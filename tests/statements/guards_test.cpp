#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "server/gate_before_the_lock.hpp"
#include "server/steps.hpp"
#include "statements/asked.hpp"
#include "store/housekeeping.hpp"
#include "store/leases.hpp"
#include "strategy/strategy.hpp"
#include "support/background.hpp"
#include "support/databases.hpp"
#include "support/recorder.hpp"

// What each statement must not do, in all of its forms: alone, of a batch, of any, of all, in turn, shared. A guard
// that one form has and another has not is found here, without a client around it.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using sheets::verb;

/// A verb, and how many requests go together. Those after the first are about names that nothing is in the way of.
struct form {
  verb what{};
  std::size_t size = 1;
  std::int64_t raises = 0;  ///< the version, by that number at least
  bool skips = false;       ///< rows that others have locked: the requests may be about any names
};

std::ostream& operator<<(std::ostream& out, const form& f) {
  return out << sheets::doing(f.what) << " (verb " << static_cast<int>(f.what) << "), " << f.size << " at once";
}

constexpr form grants[] = {{verb::acquire, 1, 1},
                           {verb::acquire, 2, 1},
                           {verb::acquire_existing, 1, 1},
                           {verb::acquire_existing, 2, 1},
                           {verb::acquire_any, 2, 1},
                           {verb::acquire_all, 2, 1},
                           {verb::hold, 1, 1},
                           {verb::compare_and_set, 1, 1},
                           {verb::acquire_in_turn, 1, 1},
                           {verb::share, 1, 1},
                           {verb::share, 2, 2},
                           {verb::share, 2, 1, true},
                           {verb::hold_while_alive, 1, 1}};
constexpr form grants_by_version[] = {
    {verb::acquire_all, 2}, {verb::compare_and_set}, {verb::share}, {verb::share, 2}, {verb::share, 2, 0, true}};
constexpr form shares[] = {{verb::share}, {verb::share, 2}, {verb::share, 2, 0, true}};
constexpr form making_rows[] = {{verb::acquire, 1},         {verb::acquire, 2},       {verb::make},
                                {verb::acquire_in_turn, 1}, {verb::hold_while_alive}, {verb::mark_waiting}};
/// By the acquisition of a lease.
constexpr form changes[] = {{verb::renew, 1},
                            {verb::renew, 2},
                            {verb::extend, 1},
                            {verb::extend, 2},
                            {verb::defer_release, 1},
                            {verb::defer_release, 2},
                            {verb::reserve, 1, asked::number},
                            {verb::grant, 1, 1},
                            {verb::downgrade, 1, 1},
                            {verb::release, 1, 1},
                            {verb::release, 2, 1},
                            {verb::release_alone, 1, 1},
                            {verb::release_alone, 2, 1}};
/// By that of a share.
constexpr form changes_of_shares[] = {
    {verb::renew_share, 1},      {verb::renew_share, 2},      {verb::extend_share, 1},    {verb::extend_share, 2},
    {verb::upgrade_share, 1, 1}, {verb::release_share, 1, 1}, {verb::release_share, 2, 1}};

bool is_a_release(verb what) {
  return what == verb::release || what == verb::release_alone || what == verb::release_share;
}

class statements : public on_each_database {
 protected:
  statements() {
    client::connect(db().url(), {.observer = silent()}).migrate();
    steps_.emplace(db().url());
  }

  /// A version that the clock reaches tomorrow.
  std::int64_t ahead() { return db().now() + microseconds(24h); }
  static std::int64_t microseconds(std::chrono::microseconds t) { return t.count(); }

  template <class Check>
  void for_each_change(Check check) {
    for_each(changes, [&](const form& f) { check(f, false); });
    for_each(changes_of_shares, [&](const form& f) { check(f, true); });
  }
  /// Each of the forms that this database has, with a name of its own.
  template <class Forms, class Check>
  void for_each(const Forms& forms, Check check) {
    for (const form& each : forms) {
      if (is_missing(each)) continue;
      SCOPED_TRACE(testing::PrintToString(each));
      name_ = "name/" + std::to_string(++names_);
      beside_ = name_ + "+";
      ticket_ = 0;
      check(each);
    }
  }

  bool run(verb what) { return run(form{.what = what}); }
  /// Whether something was answered.
  bool run(const form& f) {
    std::vector<driver::request> batch;
    for (std::size_t i = 0; i < f.size; ++i) {
      const bool is_beside =
          i > 0 && (f.what != verb::share || f.skips);  // a batch of shares that waits is for one name
      if (f.skips) share_beside_ = "share " + std::to_string(++shares_beside_);
      auto one = wanted(is_beside ? beside_ : name_, i == 0 ? mine : f.skips ? share_beside_ : also_mine);
      if (is_beside) one.version = 0;
      batch.push_back(store::positional(steps_->sql()[f.what], one.arguments()));
    }
    const auto until = steps::limits();
    auto& session = steps_->session();
    if (f.what == verb::hold) session.begin(until);
    const auto& sql = steps_->sql();
    const auto rows = session.run(f.skips ? sql.skipping(f.what) : sql[f.what], batch, until);
    if (f.what == verb::hold) session.rollback(until);
    token_ = f.what == verb::hold && !rows.empty() ? std::get<std::int64_t>(rows[0].at(1)) : 0;
    return std::any_of(rows.begin(), rows.end(), [&](const auto& r) { return !f.skips || driver::text(r[0]) == mine; });
  }

  void make_free(std::int64_t version) {
    run(verb::make);
    db().set_version(name_, version);
    std::swap(name_, beside_);
    run(verb::make);
    std::swap(name_, beside_);
  }
  /// So that both are taken by the acquisitions by which they are asked for.
  void make_mine(const form& f, bool is_shared) {
    make_free(db().now());
    for (std::size_t i = 0; i < f.size; ++i) {
      const auto own = i == 0 ? name_ : beside_;
      take(own, i == 0 ? mine : also_mine, is_shared);
    }
    if (f.what == verb::grant) enqueue();
    lease_ = 2h;
  }
  void enqueue() {
    lease_ = 10min;
    auto theirs = wanted(name_, {});
    theirs.owner = "app:there:1:1";
    theirs.room = -1;
    ticket_ = std::get<std::int64_t>(ask(verb::enqueue, theirs).at(0).at(1));
  }
  /// So that the row says it, too, where it does.
  void enqueue_and_mark() {
    enqueue();
    if (!is_missing({verb::mark_waiting})) run(verb::mark_waiting);
  }
  void take(const std::string& name, std::string_view acquisition, bool is_shared) {
    ASSERT_FALSE(ask(is_shared ? verb::share : verb::acquire, {.name = name, .acquisition = acquisition}).empty());
  }
  std::vector<driver::row> ask(verb what, const asked& one) {
    const auto request = store::positional(steps_->sql()[what], one.arguments());
    return steps_->session().run(steps_->sql()[what], {&request, 1}, steps::limits());
  }
  /// As the test has set it.
  asked wanted(std::string_view name, std::string_view acquisition) const {
    return {.name = name,
            .acquisition = acquisition,
            .attempt = attempt_,
            .lease = lease_,
            .version = version_,
            .ticket = ticket_,
            .turn = turn_,
            .expired = expired_};
  }

  /// The version that the form has given to the name; 0: it was not granted.
  std::int64_t granted(const form& f) {
    const bool answers = run(f);
    if (f.what == verb::hold) return answers ? token_ : 0;
    const auto now = row();
    const auto by = now.acquisition.value_or("");
    return now.owner && (by == mine || by.starts_with("shared:")) ? now.version : 0;
  }
  bool is_missing(const form& f) {
    const auto& text = steps_->sql()[f.what];
    return (!text.read && !text.write && !text.batch) || (f.skips && !text.batch_skipping);
  }
  store::access on(const driver::limits& until) {
    return {.sheet = steps_->sql(), .session = steps_->session(), .until = until};
  }
  bool reap() {
    const std::string_view name = name_;
    return store::reap_shares(on(steps::limits()), {&name, 1});
  }
  lock_row row() { return db().row(name_).value_or(lock_row{}); }
  auto columns() {
    const auto r = row();
    return std::tuple{r.version, r.owner, r.thread, r.acquisition, r.acquired_at, r.expires_at, r.note};
  }
  void expect_unchanged_by(const form& f) {
    const auto before = columns();
    const int shares = db().shares();
    const int beside = static_cast<int>(f.size) - 1;
    const int change = f.skips ? beside : f.what == verb::release_share && expired_ == 0 ? -beside : 0;
    run(f);
    EXPECT_EQ(columns(), before);
    EXPECT_EQ(db().shares(), shares + change);
  }

  static constexpr std::string_view mine = "0123456789abcdef0000000000000001";
  static constexpr std::string_view also_mine = "0123456789abcdef0000000000000002";
  static constexpr std::string_view others = "fedcba98765432100000000000000002";
  static constexpr std::int64_t last_turn = asked{}.turn;
  std::string_view attempt_ = asked{}.attempt;
  std::string_view other_attempt_ = "fedcba98765432100000000000000003";
  std::optional<steps> steps_;
  std::string name_;
  std::string beside_ = "beside";
  duration lease_ = 1h;
  std::int64_t version_ = 0;
  std::int64_t ticket_ = 0;
  std::int64_t turn_ = last_turn;
  std::int64_t token_ = 0;
  std::int64_t expired_ = 0;
  std::string share_beside_;
  int shares_beside_ = 0;
  int names_ = 0;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(statements);

/// Those that read an older state of a row than the one that they lock.
class statements_on_postgresql : public statements {
 protected:
  server_database& server() { return static_cast<server_database&>(db()); }  // NOLINT: it is one

  /// Somebody else does that between the look and the lock.
  template <class Do>
  void expect_unchanged_after(const form& f, Do something) {
    auto gate = gate_before_reading(server());
    background runs{[&](const std::stop_token&) { return run(f); }};
    ASSERT_TRUE(eventually([&] { return server().at_gate() > 0; }));
    something();
    const auto before = columns();
    gate.reset();
    runs.get();
    EXPECT_EQ(columns(), before);
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(statements_on_postgresql);
INSTANTIATE_TEST_SUITE_P(on, statements_on_postgresql, testing::ValuesIn(databases_named("postgresql")), database_name);

TEST_P(statements, that_grant_a_free_name_raise_its_version_though_the_clock_is_behind) {
  for_each(grants, [&](const form& f) {
    version_ = ahead();
    make_free(version_);
    EXPECT_GE(granted(f), version_ + f.raises);
  });
}

TEST_P(statements, that_grant_take_over_what_has_expired_with_a_greater_version) {
  for_each(grants, [&](const form& f) {
    make_free(db().now());
    db().steal(name_);
    db().expire(name_);
    version_ = ahead();
    db().set_version(name_, version_);
    EXPECT_GE(granted(f), version_ + f.raises);
  });
}

TEST_P(statements, that_grant_leave_a_name_alone_that_is_taken) {
  for_each(grants, [&](const form& f) {
    make_free(db().now());
    db().steal(name_);
    version_ = row().version;
    expect_unchanged_by(f);
    EXPECT_EQ(granted(f), 0);
    EXPECT_TRUE(f.what != verb::acquire_all || !db().row(beside_)->owner) << "all of them, or nothing";
  });
}

TEST_P(statements, that_go_by_a_version_leave_a_name_alone_that_has_changed) {
  for_each(grants_by_version, [&](const form& f) {
    make_free(db().now());
    version_ = row().version - 1;
    expect_unchanged_by(f);
    version_ = row().version;
    EXPECT_GT(granted(f), 0);
  });
}

TEST_P(statements, that_free_by_force_go_by_the_version_and_raise_it) {
  name_ = "name";
  make_free(db().now());
  db().steal(name_);
  db().set_version(name_, ahead());
  version_ = row().version + 1;
  expect_unchanged_by({verb::free});
  version_ = row().version;
  run(verb::free);
  EXPECT_FALSE(row().owner);
  EXPECT_GT(row().version, version_);
  expect_unchanged_by({verb::free});
}

// A row that this client was granted is asked for by itself first, if the database can do that. All other names are
// decided as if they had been asked for at once.
TEST_P(statements, that_take_an_existing_row_leave_the_rest_to_those_that_make_it) {
  using strategies::verdict;
  const strategies::algorithm by{strategies::unique_index};
  const auto ask = [&](std::size_t count) {
    const auto one = [&](std::string_view name, std::string_view id) {
      return strategies::acquire_args{
          .name = name, .owner = "app:here:1:1", .thread = "1", .acquisition = id, .note = {}, .lease = lease_};
    };
    const std::vector<strategies::acquire_args> all{one(name_, mine), one(beside_, also_mine)};
    const auto until = steps::limits();
    return by.acquire(on(until), std::span{all}.first(count));
  };
  name_ = "name";
  for (const std::size_t count : {1U, 2U}) {
    SCOPED_TRACE(count);
    const auto vacate = [&] {
      db().vacate(name_);
      db().vacate(beside_);
    };
    const auto expect_all_granted = [&] {
      const auto before = row().version;
      for (const auto& each : ask(count)) EXPECT_EQ(each.what, verdict::granted);
      EXPECT_GT(row().version, before);
      EXPECT_EQ(row().acquisition, mine);
      vacate();
    };
    expect_all_granted();
    expect_all_granted();
    db().execute("DELETE FROM rowlock_lock WHERE name = 'name'");
    expect_all_granted();
    db().steal(name_);
    const auto answers = ask(count);
    EXPECT_EQ(answers[0].what, verdict::busy);
    EXPECT_GT(answers[0].left, duration::zero());
    EXPECT_TRUE(count == 1 || answers[1].what == verdict::granted);
    vacate();
    expect_all_granted();
  }
}

TEST_P(statements, that_make_rows_begin_above_what_was_swept) {
  const auto floor = ahead();
  db().raise_floor(floor);
  version_ = floor - 1;
  run(verb::raise_floor);
  EXPECT_EQ(db().floor(), floor) << "which never becomes less";
  version_ = 0;
  for_each(making_rows, [&](const form& f) {
    run(f);
    const auto made = db().row(name_);
    EXPECT_TRUE(made || f.what == verb::mark_waiting);
    EXPECT_TRUE(!made || made->version > floor) << made->version - floor;
  });
}

TEST_P(statements, that_change_a_lease_do_it_and_raise_the_version_where_it_is_a_token) {
  for_each_change([&](const form& f, bool is_shared) {
    make_mine(f, is_shared);
    const auto before = ahead();
    db().set_version(name_, before);
    const auto row_before = columns();
    EXPECT_TRUE(run(f));
    EXPECT_NE(columns(), row_before);
    EXPECT_GE(row().version, before + f.raises);
    EXPECT_TRUE(f.raises > 0 || row().version == before);
    EXPECT_EQ(row().owner.has_value(), !is_a_release(f.what));
  });
}

// Nor a name that was freed.
TEST_P(statements, that_change_a_lease_never_touch_a_later_holder) {
  for (const bool is_stolen : {true, false})
    for_each_change([&](const form& f, bool is_shared) {
      make_mine(f, is_shared);
      is_stolen ? db().steal(name_) : db().vacate(name_);
      expect_unchanged_by(f);
    });
}

TEST_P(statements, that_change_a_lease_never_bring_it_back) {
  for_each_change([&](const form& f, bool is_shared) {
    make_mine(f, is_shared);
    is_shared ? db().kill_share(row().version, 1s) : db().expire(name_);
    if (!is_a_release(f.what)) return expect_unchanged_by(f);
    run(f);
    EXPECT_FALSE(row().owner) << "the next need not wait for a clock";
  });
}

TEST_P(statements, that_renew_never_bring_the_end_forward) {
  for_each_change([&](const form& f, bool is_shared) {
    if (f.what != verb::renew && f.what != verb::renew_share && f.what != verb::reserve) return;
    make_mine(f, is_shared);
    const auto before = row().expires_at;
    lease_ = 1s;
    EXPECT_TRUE(run(f));
    EXPECT_EQ(row().expires_at, before);
  });
}

// To prolong it, they would have to wait for the disk. With less than 300 ms they leave it to the waiter.
TEST_P(statements, that_grant_a_released_name_never_prolong_its_lease) {
  const bool has_grant = steps_->sql().can().grants_to_a_ticket;
  const auto forms =
      has_grant ? std::vector<form>{{verb::grant}} : std::vector<form>{{verb::release}, {verb::release, 2}};
  for_each(forms, [&](const form& f) {
    EXPECT_TRUE(eventually([&] {
      name_ = "name/" + std::to_string(++names_);
      beside_ = name_ + "+";
      make_mine(f, false);
      enqueue_and_mark();
      lease_ = 900ms;
      run(verb::extend);
      const auto before = row().expires_at;
      run(f);
      const bool is_granted = row().acquisition == attempt_ && row().owner;
      EXPECT_TRUE(!is_granted || row().expires_at == before);
      return is_granted;
    }));
  });
}

// Two dead ones of an earlier time are not among the two that live.
TEST_P(statements, that_take_the_dead_off_take_off_none_of_an_earlier_time) {
  name_ = "name";
  make_free(db().now());
  for (const char* const dead : {"1", "2"}) {
    take(name_, dead, true);
    db().kill_share(row().version, 1s);
  }
  db().vacate(name_);
  take(name_, mine, true);
  take(name_, also_mine, true);
  EXPECT_FALSE(reap());
  expect_unchanged_by({verb::upgrade_share});
  version_ = 0;
  expect_unchanged_by({verb::share});
  db().kill_share(row().version, 1s);
  EXPECT_TRUE(reap());
  EXPECT_TRUE(run(verb::upgrade_share));
  EXPECT_EQ(row().acquisition, mine);
}

// One that looked dead was prolonged before its row was locked.
TEST_P(statements, that_take_the_dead_off_leave_those_who_live) {
  for_each(std::vector<form>{{verb::release_share}, {verb::release_share, 2}}, [&](const form& f) {
    make_mine(f, true);
    expired_ = 1;
    expect_unchanged_by(f);
    db().kill_share(row().version, 1s);
    EXPECT_TRUE(run(f));
    EXPECT_FALSE(row().owner);
    expired_ = 0;
  });
}

TEST_P(statements, that_change_a_share_leave_those_of_others_as_they_are) {
  for_each(changes_of_shares, [&](const form& f) {
    make_mine(f, true);
    take(name_, others, true);
    run(f);
    const auto all = ask(verb::sharers, {.name = name_});
    const auto theirs =
        std::find_if(all.begin(), all.end(), [](const auto& r) { return driver::text(r[4]) == others; });
    ASSERT_NE(theirs, all.end());
    EXPECT_LE(driver::integer((*theirs)[6]), microseconds(1h)) << "by its own lease";
    EXPECT_EQ(all.size(), f.what == verb::release_share ? 1U : 2U);
    EXPECT_TRUE(row().owner);
  });
}

TEST_P(statements, that_grant_a_released_name_pass_over_tickets_of_the_dead) {
  for_each(std::vector<form>{{verb::grant}}, [&](const form& f) {
    name_ = "name";
    make_mine(f, false);
    db().kill_waiters(1s);
    expect_unchanged_by(f);
    const auto dead = ticket_;
    enqueue();
    EXPECT_EQ(driver::integer(ask(verb::first_in_turn, {.name = name_}).at(0)[1]), ticket_);
    std::swap(attempt_, other_attempt_);
    expect_unchanged_by(f);
    std::swap(attempt_, other_attempt_);
    EXPECT_TRUE(run(f));
    EXPECT_GT(ticket_, dead);
  });
}

TEST_P(statements, that_share_a_name_give_no_more_permits_than_there_are) {
  for_each(shares, [&](const form& f) {
    make_free(db().now());
    take(name_, "1", true);
    take(name_, "2", true);
    version_ = 0;
    expect_unchanged_by(f);
    db().kill_share(row().version, 1s);
    reap();
    const int before = db().shares();
    EXPECT_TRUE(run(f));
    EXPECT_GT(db().shares(), before);
  });
}

TEST_P(statements, that_share_a_free_name_pass_nobody_who_waits) {
  for_each(shares, [&](const form& f) {
    make_free(db().now());
    enqueue_and_mark();
    version_ = 0;
    expect_unchanged_by(f);
    db().kill_waiters(1s);
    if (!is_missing({verb::clear_waiting})) run(verb::clear_waiting);
    EXPECT_GT(granted(f), 0);
  });
}

// Each name as if it were asked for alone, though a session has the row of one locked.
TEST_P(statements, that_share_many_names_leave_out_those_that_are_locked_or_taken) {
  if (is_missing({verb::share, 4, 0, true})) GTEST_SKIP() << "one connection writes at a time";
  const std::vector<std::string> names{"free", "locked", "shared", "taken"};
  std::vector<std::string> ids;
  for (const auto& each : names) {
    name_ = each;
    make_free(db().now());
  }
  take("shared", others, true);
  db().steal("taken");
  steps other{db().url()};
  const auto until = steps::limits();
  const auto lock = [&](verb by, const asked& what) {
    const auto request = store::positional(other.sql()[by], what.arguments());
    other.session().begin(until);
    ASSERT_FALSE(other.session().run(other.sql()[by], {&request, 1}, until).empty());
  };
  const auto run_for_all = [&](verb what, std::span<const asked> some) {
    const auto& skipping = steps_->sql().skipping(what);
    std::vector<std::vector<store::argument>> arguments;
    std::vector<driver::request> batch;
    for (const auto& each : some) arguments.push_back(each.arguments());
    for (const auto& each : arguments) batch.push_back(store::positional(skipping, each));
    return steps_->session().run(skipping, batch, until);
  };
  lock(verb::hold, {.name = "locked"});
  std::vector<asked> all;
  for (int i = 0; i < 8; ++i) ids.push_back("id/" + std::to_string(i));
  for (std::size_t i = 0; i < ids.size(); ++i) all.push_back({.name = names[i % 4], .acquisition = ids[i], .room = 9});
  const auto versions = [&] { return std::tuple{db().row("locked")->version, db().row("taken")->version}; };
  const auto before = versions();
  std::map<std::string, std::set<std::int64_t>> tokens;
  for (const auto& row : run_for_all(verb::share, all))
    tokens[names[static_cast<std::size_t>(driver::text(row[0]).back() - '0') % 4]].insert(driver::integer(row[1]));
  other.session().rollback(until);
  EXPECT_EQ(versions(), before);
  EXPECT_EQ(tokens["free"], (std::set{db().row("free")->version - 1, db().row("free")->version}));
  EXPECT_EQ(tokens["shared"], (std::set{db().row("shared")->version - 1, db().row("shared")->version}));
  EXPECT_EQ(tokens.size(), 2U) << "names";
  EXPECT_EQ(db().shares(), 5);
  lock(verb::free, {.name = "shared", .version = db().row("shared")->version});
  EXPECT_EQ(run_for_all(verb::release_share, all).size(), 2U) << "those of the first name";
  other.session().rollback(until);
  EXPECT_EQ(db().shares(), 3);
  EXPECT_EQ(run_for_all(verb::release_share, all).size(), 2U);
  EXPECT_EQ(db().shares(), 1) << "of another client";
}

TEST_P(statements, that_release_a_name_alone_leave_it_where_somebody_waits) {
  for_each(std::vector<form>{{verb::release_alone}, {verb::release_alone, 2}}, [&](const form& f) {
    make_mine(f, false);
    enqueue_and_mark();
    expect_unchanged_by(f);
  });
}

TEST_P(statements, that_release_a_name_grant_it_to_none_of_the_dead) {
  for_each(std::vector<form>{{verb::release}, {verb::release, 2}}, [&](const form& f) {
    make_mine(f, false);
    enqueue_and_mark();
    db().kill_waiters(1s);
    EXPECT_TRUE(run(f));
    EXPECT_FALSE(row().owner);
  });
}

TEST_P(statements, that_grant_in_turn_pass_nobody_and_need_their_ticket) {
  for_each(std::vector<form>{{verb::acquire_in_turn}}, [&](const form& f) {
    make_free(db().now());
    enqueue();
    const auto others = std::exchange(ticket_, 0);
    expect_unchanged_by(f);
    db().kill_waiters(1s);
    ticket_ = turn_ = others + 1;
    expect_unchanged_by(f);
    ticket_ = 0;
    turn_ = last_turn;
    EXPECT_GT(granted(f), 0);
  });
}

TEST_P(statements, that_look_at_a_queue_see_who_comes_before_and_the_own_ticket) {
  for_each(std::vector<form>{{verb::turn}, {verb::turn, 2}}, [&](const form& f) {
    make_free(db().now());
    enqueue();
    const auto look = [&](std::int64_t turn) {
      const store::ticket_ref own{.name = name_, .attempt = {}, .number = core::ticket_number{turn}};
      const store::ticket_ref beside{.name = beside_, .attempt = {}, .number = core::ticket_number::last};
      const std::vector<store::ticket_ref> both{own, beside};
      return steps_->look_at_queues({both.data(), f.size}).at(0);
    };
    EXPECT_TRUE(look(last_turn).is_behind);
    EXPECT_FALSE(look(ticket_).is_behind);
    EXPECT_TRUE(look(ticket_).has_ticket);
    EXPECT_FALSE(look(ticket_ + 1).has_ticket);
    db().kill_waiters(1s);
    EXPECT_FALSE(look(last_turn).is_behind);
  });
}

TEST_P(statements, that_take_the_mark_off_leave_it_beside_a_ticket) {
  for_each(std::vector<form>{{verb::clear_waiting}}, [&](const form& f) {
    make_free(db().now());
    enqueue_and_mark();
    EXPECT_FALSE(run(f));
    db().kill_waiters(1s);
    EXPECT_TRUE(run(f));
  });
}

TEST_P(statements, that_vacate_what_has_expired_leave_the_rest) {
  for_each(std::vector<form>{{verb::vacate_expired}}, [&](const form& f) {
    make_mine(f, false);
    expect_unchanged_by(f);
    db().set_version(name_, ahead());
    db().expire(name_);
    const auto before = row().version;
    run(f);
    EXPECT_FALSE(row().owner);
    EXPECT_GT(row().version, before);
  });
}

// So a later release finds no ticket that it might grant the name again. MySQL and SQLite mark it with the grant.
TEST_P(statements_on_postgresql, that_claim_a_granted_name_delete_the_ticket) {
  name_ = "name";
  make_mine({verb::release}, false);
  enqueue_and_mark();
  EXPECT_TRUE(run(verb::release));
  EXPECT_EQ(row().acquisition, attempt_);
  EXPECT_EQ(db().tickets(), 1);
  const asked claim{.name = name_, .acquisition = mine, .owner = "app:there:1:1", .ticket = ticket_, .turn = ticket_};
  EXPECT_EQ(driver::text(ask(verb::acquire_in_turn, claim).at(0)[7]), attempt_);
  EXPECT_EQ(row().acquisition, attempt_);
  EXPECT_EQ(db().tickets(), 0);
}

TEST_P(statements_on_postgresql, that_grant_leave_a_name_alone_that_was_taken_since_they_looked) {
  for_each(grants, [&](const form& f) {
    make_free(db().now());
    version_ = row().version;
    expect_unchanged_after(f, [&] { db().steal(name_); });
  });
}

// Whoever has had it in between may have seen tickets that they have not.
TEST_P(statements_on_postgresql, that_go_by_what_they_saw_leave_a_name_alone_that_was_released_since) {
  const form those[] = {{verb::acquire_in_turn}, {verb::compare_and_set}, {verb::acquire_all, 2}, {verb::share}};
  for_each(those, [&](const form& f) {
    make_free(db().now());
    version_ = row().version;
    expect_unchanged_after(f, [&] {
      db().steal(name_);
      db().vacate(name_);
    });
  });
}

TEST_P(statements_on_postgresql, that_change_a_lease_never_touch_one_that_was_granted_since_they_looked) {
  for_each_change([&](const form& f, bool is_shared) {
    make_mine(f, is_shared);
    expect_unchanged_after(f, [&] { db().steal(name_); });
  });
}

TEST_P(statements_on_postgresql, that_change_a_lease_never_bring_one_back_that_has_ended_since_they_looked) {
  for_each(changes, [&](const form& f) {
    if (is_a_release(f.what)) return;
    make_mine(f, false);
    expect_unchanged_after(f, [&] { db().expire(name_); });
  });
}

// Behind a pooler a session has no settings: each statement brings its own. What a crash may forget is only what nobody
// relies on.
TEST_P(statements_on_postgresql, that_somebody_relies_on_are_durable_behind_a_pooler) {
  server().execute(
      "CREATE TABLE seen (durably text); GRANT ALL ON seen TO PUBLIC; CREATE FUNCTION see() RETURNS trigger LANGUAGE "
      "plpgsql AS $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$; "
      "CREATE TRIGGER see_locks AFTER INSERT OR UPDATE OR DELETE ON rowlock_lock EXECUTE FUNCTION see(); "
      "CREATE TRIGGER see_shares AFTER INSERT OR UPDATE OR DELETE ON rowlock_share EXECUTE FUNCTION see()");
  const auto relaxed = server().set_default("synchronous_commit", "off");
  steps_.emplace(db().url(), driver::open_options{.transaction_pooling = true});
  const auto expect_durable = [&](const form& f, bool durable = true) {
    server().execute("DELETE FROM seen");
    run(f);
    EXPECT_GT(server().number("SELECT count(*) FROM seen"), 0);
    EXPECT_EQ(server().number("SELECT count(*) FROM seen WHERE durably = 'off'") == 0, durable);
  };
  for_each(grants, [&](const form& f) {
    if (f.what == verb::hold) return;  // in a transaction that is on no pooler
    make_free(db().now());
    version_ = row().version;
    expect_durable(f);
  });
  version_ = 0;
  for_each(std::vector<form>{{verb::acquire}, {verb::acquire, 2}, {verb::acquire_in_turn}},
           [&](const form& f) { expect_durable(f); });
  for_each_change([&](const form& f, bool is_shared) {
    make_mine(f, is_shared);
    expect_durable(f, !is_a_release(f.what));
  });
  for_each(std::vector<form>{{verb::free}}, [&](const form& f) {
    make_mine({verb::renew}, false);
    version_ = row().version;
    expect_durable(f);
  });
}

// Between the look at a page and its deletion somebody has come for it.
TEST_P(statements, that_sweep_delete_nothing_that_is_in_use) {
  name_ = "name";
  enqueue();
  EXPECT_FALSE(run(verb::purge_tickets));
  EXPECT_EQ(db().tickets(), 1);
  db().kill_waiters(2min);
  EXPECT_TRUE(run(verb::refresh_ticket));
  EXPECT_FALSE(run(verb::purge_tickets));
  EXPECT_EQ(db().tickets(), 1);
  db().kill_waiters(2min);
  EXPECT_TRUE(run(verb::purge_tickets));
  EXPECT_EQ(db().tickets(), 0);
}

TEST_P(statements, that_sweep_delete_no_names_that_were_used_since_they_looked) {
  db().add_unused(2);
  const auto until = steps::limits();
  const auto found = store::find_unused(on(until), {}, 100, 1h);
  ASSERT_EQ(found.names, (std::vector<std::string>{"unused/0", "unused/1"}));
  const auto token = client::connect(db().url(), {.observer = silent()}).acquire("unused/0").token();
  EXPECT_EQ(store::sweep(on(until), found, 1h), 1U);
  ASSERT_TRUE(db().row("unused/0").has_value());
  EXPECT_GE(db().row("unused/0")->version, token.value());
  EXPECT_FALSE(db().row("unused/1").has_value());
}

TEST_P(statements, that_sweep_delete_no_row_that_is_held_or_young_or_above_the_floor) {
  name_ = "name";
  make_mine({}, false);
  db().vacate(name_);
  db().age(name_, 1h);
  db().raise_floor(0);
  const auto sweep = [&] { return run(verb::sweep); };
  EXPECT_FALSE(sweep()) << "above the floor";
  version_ = ahead();
  run(verb::raise_floor);
  make_mine({}, false);
  EXPECT_FALSE(sweep()) << "held";
  db().vacate(name_);
  EXPECT_FALSE(sweep()) << "young";
  db().age(name_, 1h);
  EXPECT_TRUE(sweep());
}

}  // namespace
}  // namespace rowlock::test
