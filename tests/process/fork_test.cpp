#include <unistd.h>

#include <atomic>
#include <set>
#include <system_error>
#include <thread>

#include "process/process_test.hpp"
#include "support/channel.hpp"

namespace rowlock::test {
namespace {

/// The checks of a forked child. Its exit status is the number of the first check that failed, or 0.
class findings {
 public:
  void check(bool is_right) {
    ++checks_;
    if (!is_right && first_ == 0) first_ = checks_;
  }
  int first() const { return first_; }

 private:
  int checks_ = 0;
  int first_ = 0;
};

/// Runs the body in a forked child, whose exit status says what it found: 200 where it threw.
pid_t start_child(const std::function<void(findings&)>& body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::alarm(120);
  findings found;
  try {
    body(found);
  } catch (...) {
    ::_exit(200);
  }
  ::_exit(found.first());
}

/// Whether all checks of the body, which a forked child runs, are right.
testing::AssertionResult is_right_in_child(const std::function<void(findings&)>& body) {
  const auto found = wait_for(start_child(body));
  if (found == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (found ? "the child reports " + std::to_string(*found) : "the child hung");
}

bool is_used_after_fork(const std::function<void()>& call) {
  const auto e = error_of(call);
  return e.has_value() && e->code() == errc::used_after_fork;
}

class forked : public on_each_database {
 protected:
  forked() { locks_->migrate(); }

  std::unique_ptr<client> connect() { return std::make_unique<client>(connect_patiently(db().url())); }

  std::unique_ptr<client> locks_ = connect();
};
ROWLOCK_SUITE_ON_EACH_DATABASE(forked);

TEST_P(forked, the_child_holds_nothing_and_says_so) {
  auto held = locks_->acquire("job", {.lease = 20s});
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    found.check(static_cast<bool>(held));
    found.check(held.why_lost() == loss_reason::forked);
    found.check(held.lost().stop_requested());
    found.check(held.name().view() == "job");
    found.check(held.expires_in() == duration::zero());
    found.check(static_cast<bool>(throws(errc::lock_lost, [&] { held.extend(1h); })));
    found.check(static_cast<bool>(throws(errc::lock_lost, [&] { held.release(); })));
    found.check(!static_cast<bool>(held));
  }));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(held.why_lost(), loss_reason::none);
  held.release();
}

TEST_P(forked, asynchronous_calls_are_the_parents) {
  auto held = locks_->acquire("job");
  auto other = connect();
  std::atomic<int> answers{0};
  const auto count = [&](const async_answer<held_lock>& answer) {
    EXPECT_FALSE(answer.has_failed());
    ++answers;
  };
  for (int i = 0; i < 3; ++i) other->acquire_async("job").start(count);
  ASSERT_TRUE(eventually([&] { return other->stats().waiting == 3; }));
  auto not_begun = other->acquire_async("other");
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    found.check(is_used_after_fork([&] { std::move(not_begun).start(count); }));
    found.check(is_used_after_fork([&] { other->acquire_async("another").start(count); }));
    found.check(is_used_after_fork([&] { held.release_async().start([](const auto&) {}); }) ||
                !static_cast<bool>(held));
    other.reset();
    found.check(answers == 0);
  }));
  held.release();
  EXPECT_TRUE(eventually([&] { return answers == 3; }));
}

TEST_P(forked, a_sweeper_at_work_is_the_parents) {
  db().add_unused(2'000);
  auto sweeps = std::make_unique<sweeper>(*locks_, sweeper_options{.every = 24h, .batch = 10});
  background at_work{[&](const std::stop_token& /*stop*/) { return sweeps->sweep_once(); }};
  ASSERT_TRUE(eventually([&] { return sweeps->statistics().rows > 0; }));
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    found.check(is_used_after_fork([&] { sweeps->sweep_once(); }));
    found.check(sweeps->statistics().rows == 0);
    found.check(is_used_after_fork([&] { const sweeper another{*locks_}; }));
    sweeps->stop();
    sweeps.reset();
  }));
  EXPECT_EQ(at_work.get(), 2'000U);
}

TEST_P(forked, an_election_and_its_observers_are_the_parents) {
  election mine{*locks_, "lead", {.look_every = 10ms}};
  std::atomic<std::int64_t> term{0};
  std::optional<election::observation> watching{
      mine.observe([&](const std::optional<lock_info>& leader) { term = leader ? leader->token.value() : 0; })};
  const auto lead = mine.campaign();
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    found.check(is_used_after_fork([&] { return mine.try_campaign(); }));
    found.check(is_used_after_fork([&] { mine.lead({}, [](const auto&, const auto&) {}); }));
    found.check(is_used_after_fork([&] { return mine.leader(); }));
    found.check(is_used_after_fork([&] { return mine.observe([](const auto&) {}); }));
    mine.resign();
    watching->stop();
    watching.reset();
  }));
  EXPECT_TRUE(eventually([&] { return term == lead.token().value(); })) << "the parent's looks on";
  EXPECT_FALSE(lead.lost().stop_requested());
}

// Three sets of tables count as three databases here.
TEST_P(forked, a_quorum_is_the_parents) {
  std::vector<client> all;
  for (const auto* prefix : {"a_", "b_", "c_"}) {
    all.push_back(connect_patiently(db().url(), {.table_prefix = prefix}));
    all.back().migrate();
  }
  const std::vector<std::reference_wrapper<client>> clients{all.begin(), all.end()};
  auto job = std::make_unique<quorum_lock>(clients, "job");
  auto held = job->acquire();
  auto kept = std::make_unique<held_quorum>(quorum_lock{clients, "kept"}.acquire());
  auto busy = std::make_unique<quorum_lock>(clients, "busy");
  std::atomic<int> cycles{0};
  {
    const std::jthread at_work{[&](const std::stop_token& enough) {
      for (; !enough.stop_requested(); ++cycles) busy->acquire().release();
    }};
    for (int i = 0; i < 5; ++i) {
      const auto before = cycles.load();
      ASSERT_TRUE(eventually([&] { return cycles > before; }));
      ASSERT_TRUE(is_right_in_child([&](findings& found) {
        found.check(static_cast<bool>(held));
        found.check(held.why_lost() == loss_reason::forked);
        found.check(held.lost().stop_requested());
        found.check(held.members().empty() && held.expires_in() == duration::zero());
        found.check(held.name().view() == "job" && held.majority() == 2);
        found.check(static_cast<bool>(throws(errc::lock_lost, [&] { held.release(); })));
        found.check(is_used_after_fork([&] { return job->try_acquire(); }));
        found.check(is_used_after_fork([&] { return busy->acquire(); }));
        kept.reset();
        job.reset();
        busy.reset();
      }));
    }
  }
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(job->try_acquire());
  EXPECT_FALSE(quorum_lock(clients, "kept").try_acquire());
  held.release();
  EXPECT_TRUE(job->try_acquire());
}

TEST_P(forked, every_call_of_the_child_is_refused) {
  const auto held = locks_->acquire("job");
  mutex order{*locks_, "order"};
  order.lock();
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    found.check(is_used_after_fork([&] { return locks_->try_acquire("x"); }));
    found.check(is_used_after_fork([&] { return locks_->acquire("x"); }));
    found.check(is_used_after_fork([&] { return locks_->try_acquire_for("x", 1s); }));
    found.check(is_used_after_fork([&] { return locks_->list(); }));
    found.check(is_used_after_fork([&] { return locks_->find("job"); }));
    found.check(is_used_after_fork([&] { locks_->check(); }));
    found.check(is_used_after_fork([&] { return locks_->stats(); }));
    found.check(is_used_after_fork([&] { locks_->migrate(); }));
    found.check(is_used_after_fork([&] { order.lock(); }));
    found.check(is_used_after_fork([&] { return order.try_lock(); }));
    found.check(is_used_after_fork([&] { return order.try_lock_for(1s); }));
    order.unlock();
    locks_->release_all();
    locks_->close();
  }));
  EXPECT_FALSE(held.lost().stop_requested());
  auto other = connect();
  EXPECT_FALSE(other->try_acquire("job").has_value());
  EXPECT_FALSE(other->try_acquire("order").has_value()) << "the child's unlock, release_all and close did nothing";
  order.unlock();
  EXPECT_TRUE(other->try_acquire("order").has_value());
}

TEST_P(forked, the_destructors_of_the_child_do_nothing_and_the_parent_goes_on) {
  std::optional<held_lock> held = locks_->acquire("job", {.lease = 3s});
  auto order = std::make_unique<mutex>(*locks_, "order", lock_options{.lease = 3s});
  order->lock();
  const auto before = db().row("job").value();
  EXPECT_TRUE(is_right_in_child([&](findings&) {
    held.reset();
    order.reset();
    locks_.reset();
  }));
  EXPECT_EQ(db().row("job").value().acquisition, before.acquisition);
  EXPECT_TRUE(db().row("job").value().owner.has_value());
  ASSERT_TRUE(eventually([&] { return db().row("job").value().expires_at > before.expires_at; })) << "renewed still";
  EXPECT_FALSE(held->lost().stop_requested());
  order->unlock();
  held->release();
  EXPECT_TRUE(locks_->try_acquire("job").has_value());
  EXPECT_TRUE(locks_->try_acquire("order").has_value());
}

TEST_P(forked, a_new_client_in_the_child_works_where_the_parent_had_none_open) {
  locks_.reset();
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    auto mine = connect_patiently(db().url());
    auto job = mine.try_acquire("job", {.lease = 3s});
    found.check(job.has_value());
    const auto owner = mine.find("job").value().owner;
    found.check(owner.find(":" + std::to_string(::getpid()) + ":") != std::string::npos);
    found.check(eventually([&] { return mine.find("job").value().held_for > 3s; }));
    found.check(!job->lost().stop_requested());
    job->release();
    mutex m{mine, "job"};
    found.check(m.try_lock());
    m.unlock();
    mine.close();
  }));
  locks_ = connect();
  EXPECT_TRUE(locks_->try_acquire("job").has_value());
}

// SQLite would think that the child has the parent's locks on the file. Refused before SQLite is touched.
TEST_P(forked, a_new_client_in_the_child_works_beside_those_of_the_parent_or_is_refused) {
  const auto held = locks_->acquire("job", {.lease = 2s});
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    if (!db().serves_forked_children()) {
      const auto connect_here = [&] { client::connect(db().url()).close(); };
      found.check(is_used_after_fork(connect_here));
      found.check(mentions(error_of(connect_here), "close the clients"));
      locks_.reset();
      found.check(is_used_after_fork(connect_here));
      return;
    }
    auto mine = connect_patiently(db().url());
    found.check(!mine.try_acquire("job").has_value());
    auto other = mine.try_acquire("other");
    found.check(other.has_value());
    locks_.reset();
    found.check(!other->lost().stop_requested());
    other->release();
    mine.close();
  }));
  const auto before = db().row("job").value();
  EXPECT_TRUE(eventually([&] { return db().row("job").value().expires_at > before.expires_at; })) << "renewed still";
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_TRUE(locks_->try_acquire("other").has_value());
}

// What parent and children have in common at the fork must not make their next random ids the same.
TEST_P(forked, parent_and_children_draw_different_ids) {
  static_cast<void>(holder::unique());
  locks_->acquire("warm up").release();
  locks_.reset();
  const channel drawn;
  const auto draw = [&](const std::string& name) {
    auto mine = connect();
    const auto held = mine->acquire(name);
    const auto row = db().row(name).value();
    drawn.send(std::string{holder::unique().text()});
    drawn.send(row.acquisition.value());
    drawn.send(row.owner->substr(row.owner->rfind(':')));
  };
  for (const auto* name : {"first child", "second child"})
    EXPECT_TRUE(is_right_in_child([&](findings&) { draw(name); }));
  draw("parent");
  std::set<std::string> seen;
  for (int i = 0; i < 9; ++i) seen.insert(drawn.receive());
  EXPECT_EQ(seen.size(), 9U);
}

// A file that parent and child both open after the fork stays one database when either of them closes it.
TEST_P(forked, a_client_in_the_child_outlives_those_of_the_parent) {
  locks_->acquire("warm up").release();
  locks_.reset();
  const channel to_child;
  const channel to_parent;
  const auto child = start_child([&](findings& found) {
    auto mine = connect_patiently(db().url());
    auto held = mine.acquire("job");
    to_parent.send("held");
    found.check(to_child.receive() == "look");
    found.check(mine.find("of the parent").has_value());
    held.release();
    held = mine.acquire("of the child");
    to_parent.send("held");
    found.check(to_child.receive() == "end");
  });
  EXPECT_EQ(to_parent.receive(), "held");
  connect().reset();
  auto other = connect();
  EXPECT_FALSE(other->try_acquire("job").has_value()) << "the child has it";
  const auto held = other->acquire("of the parent");
  to_child.send("look");
  EXPECT_EQ(to_parent.receive(), "held");
  EXPECT_FALSE(other->try_acquire("of the child").has_value());
  EXPECT_TRUE(other->try_acquire("job").has_value());
  to_child.send("end");
  EXPECT_EQ(wait_for(child), 0);
}

/// Forks while other threads are in the middle of calls.
class forked_at_work : public forked {
 protected:
  void SetUp() override {
    for (int t = 0; t < 4; ++t)
      workers_.emplace_back([this, name = "job/" + std::to_string(t % 2)](const std::stop_token& enough) {
        mutex order{*locks_, "order"};
        while (!enough.stop_requested()) {
          locks_->acquire(name).release();
          static_cast<void>(locks_->find(name));
          if (order.try_lock()) order.unlock();
          ++cycles_;
        }
      });
  }
  void TearDown() override { workers_.clear(); }

  void fork_often(const std::function<void(findings&)>& body) {
    for (int i = 0; i < 25; ++i) {
      const auto before = cycles_.load();
      ASSERT_TRUE(eventually([&] { return cycles_ > before; }));
      ASSERT_TRUE(is_right_in_child(body)) << "fork " << i;
    }
  }

  std::atomic<int> cycles_{0};
  std::vector<std::jthread> workers_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(forked_at_work);

TEST_P(forked_at_work, the_child_does_not_hang_nor_where_it_connects) {
  auto held = locks_->acquire("mine");
  fork_often([&](findings& found) {
    const auto e = error_of([&] { connect_patiently(db().url()).close(); });
    found.check(db().serves_forked_children() ? !e : e && e->code() == errc::used_after_fork);
    found.check(held.why_lost() == loss_reason::forked);
    found.check(held.lost().stop_requested());
    found.check(is_used_after_fork([&] { return locks_->try_acquire("x"); }));
    found.check(is_used_after_fork([&] { return locks_->find("x"); }));
    held = held_lock{};
    locks_->release_all();
    locks_.reset();
  });
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
}

TEST_P(forked, twice_over_is_no_different) {
  const auto held = locks_->acquire("job");
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    const auto grandchild = is_right_in_child([&](findings& inner) {
      inner.check(held.why_lost() == loss_reason::forked);
      inner.check(is_used_after_fork([&] { return locks_->try_acquire("x"); }));
      const auto connect_here = [&] { client::connect(db().url()).close(); };
      inner.check(is_used_after_fork(connect_here) != db().serves_forked_children());
    });
    found.check(static_cast<bool>(grandchild));
  }));
}

// lost() of a lock that was lost before the fork is lost for that reason in the child too, or for the fork; never held.
TEST_P(forked, what_was_lost_stays_lost) {
  auto held = locks_->acquire("job");
  locks_->release_all();
  EXPECT_TRUE(is_right_in_child([&](findings& found) {
    found.check(held.lost().stop_requested());
    found.check(held.why_lost() != loss_reason::none);
    held = held_lock{};
  }));
  EXPECT_EQ(held.why_lost(), loss_reason::forced);
}

/// parent URL: takes "job", forks and says so. The child says what it finds when its parent has gone, and lives on.
int be_parent(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  std::optional<held_lock> held = locks.acquire("job", {.lease = 1500ms});
  std::optional<client> moved{std::move(locks)};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) {
    say("forked");
    static_cast<void>(hear());
    return 1;
  }
  ::alarm(120);
  findings found;
  found.check(eventually([&] { return ::getppid() != parent; }));
  found.check(held->why_lost() == loss_reason::forked);
  found.check(is_used_after_fork([&] { return moved->try_acquire("job"); }));
  held.reset();
  moved.reset();
  say("found " + std::to_string(found.first()));
  static_cast<void>(hear());
  ::_exit(0);
}

const role_registration parent_role{"parent", be_parent};

TEST_P(forked, a_child_that_outlives_a_killed_holder_keeps_nothing_from_the_next) {
  child_process parent{"parent", {db().url()}};
  parent.expect("forked");
  EXPECT_FALSE(locks_->try_acquire("job").has_value());
  const auto before = db().row("job").value();
  parent.kill();
  parent.expect("found 0");
  const auto lease_ends = db().row("job").value().expires_at.value();
  EXPECT_EQ(db().row("job").value().acquisition, before.acquisition) << "the child's destructors did nothing";
  const auto next = locks_->acquire("job");
  EXPECT_GE(next.token().value(), lease_ends) << "and it did not cut the lease short";
  EXPECT_FALSE(next.lost().stop_requested());
}

/// descriptors FOLDER: says how many open descriptors lead there.
/// descriptors BEGINNING: says how many open descriptors, but the usual three, lead to something that begins like that.
int count_descriptors(const std::vector<std::string>& arguments) {
  int found = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"})
    if (std::stoi(entry.path().filename()) > STDERR_FILENO &&
        std::filesystem::read_symlink(entry.path(), gone).string().starts_with(arguments.at(0)))
      ++found;
  say(std::to_string(found));
  return 0;
}

const role_registration descriptors_role{"descriptors", count_descriptors};

TEST_P(forked, a_program_that_is_executed_inherits_no_descriptor) {
  const auto held = locks_->acquire("job");
  const auto url = db().url();
  child_process executed{"descriptors", {url.starts_with("sqlite:/") ? url.substr(url.find('/')) : "socket:"}};
  EXPECT_EQ(executed.read_line(), "0");
  EXPECT_EQ(executed.wait(), 0);
}

}  // namespace
}  // namespace rowlock::test
