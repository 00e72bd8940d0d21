#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/error_detail.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"
#include "engine/lease/reconciler.hpp"
#include "engine/maintenance.hpp"
#include "unit/fake_database.hpp"

// What it releases in a run, with a database in which nothing is held any more. No time passes.

namespace rowlock {
namespace {

using namespace std::chrono_literals;

struct silent_notices final : engine::release_notices {
  void releasing(const lock_name& /*name*/) override {}
  bool released(const lock_name& name, bool is_unnotified) override {
    if (is_unnotified) told.emplace_back(name.view());
    return true;
  }
  bool pass_on(const lock_name& /*name*/) override { return false; }
  std::vector<std::string> told;
};

struct reconciler_test : testing::Test {
  engine::unresolved entry(const std::string& name, const std::string& id) const {
    return reconciler.entry_for(name, core::acquisition_id{id}, 30s, base::now());
  }
  void run() { reconciler.run({.deadline = base::now() + 1h}); }
  bool is_due() { return reconciler.next_due() <= base::now(); }

  int releases = 0;
  int locked_until = 0;  // so many releases find the row of "1" locked
  std::function<void()> on_release = [] {};
  test::fake_database db{[this](sheets::verb what, std::span<const driver::request> batch, const driver::limits&) {
    if (what == sheets::verb::release) {
      releases += static_cast<int>(batch.size());
      on_release();
    }
    std::vector<driver::row> out;
    if (what == sheets::verb::inspect)
      for (const auto& r : batch)
        out.push_back(test::held_row(test::text_of(r[0]), releases < locked_until ? "1" : "another"));
    return out;
  }};
  silent_notices notices;
  engine::maintenance unstarted{5s};
  engine::reconciler reconciler{db.gateway(), notices, unstarted};
};

TEST_F(reconciler_test, releases_one_acquisition_of_each_name_in_a_run_and_the_others_without_a_pause) {
  for (const auto* id : {"1", "2", "3"}) reconciler.add(entry("a", id));
  reconciler.add(entry("b", "4"));
  run();
  EXPECT_EQ(releases, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_due()) << "to be postponed is no failure";
    run();
  }
  EXPECT_EQ(releases, 4);
  EXPECT_FALSE(is_due());
}

TEST_F(reconciler_test, releases_all_of_a_name_at_the_end) {
  reconciler.release_all({entry("a", "1"), entry("a", "2"), entry("a", "3")}, {.deadline = base::now() + 1h});
  EXPECT_EQ(releases, 3);
}

// As by an attempt of another client, for a moment.
TEST_F(reconciler_test, asks_again_for_a_locked_row_at_the_end_alone) {
  const driver::limits until{.deadline = base::now() + 1h};
  locked_until = 4;
  reconciler.release_all({entry("a", "1")}, until);
  EXPECT_EQ(releases, 1) << "the maintenance thread does it later";
  reconciler.release_at_the_end({entry("b", "2")}, until);
  EXPECT_EQ(releases, 1 + 2 + 1) << "with the other one, and once more";
  EXPECT_EQ(reconciler.next_due(), base::instant::max());
  locked_until = 1'000'000;
  reconciler.release_at_the_end({entry("a", "1")}, until);
  EXPECT_EQ(releases, 4 + core::inconclusive_only_tries) << "a transaction may keep it for long";
}

TEST_F(reconciler_test, does_not_wait_at_the_end_for_what_was_not_seen) {
  auto e = entry("a", "1");
  e.may_appear = true;
  reconciler.release_at_the_end({e}, {.deadline = base::now() + 1h});
  EXPECT_EQ(releases, 1);
}

TEST_F(reconciler_test, pauses_after_a_failure) {
  on_release = [] { throw error{errc::connection_failed, "the server is away"}; };
  reconciler.add(entry("a", "1"));
  run();
  EXPECT_FALSE(is_due());
  EXPECT_NE(reconciler.next_due(), base::instant::max());
}

// A release grants the name to the next holder, who believes in that for so long at most.
TEST_F(reconciler_test, repeats_a_release_that_may_have_granted_only_when_that_is_over) {
  on_release = [] {
    throw detail::error_access::make(errc::call_timed_out, "no answer", {.retryable = true, .outcome_unknown = true});
  };
  reconciler.add(entry("a", "1"));
  run();
  EXPECT_FALSE(reconciler.permits("1", base::now()));
  auto e = entry("b", "2");
  e.may_have_granted = true;
  reconciler.add(e);
  const auto before = base::now();
  run();
  EXPECT_EQ(releases, 1) << "of the first";
  EXPECT_FALSE(reconciler.permits("2", before + core::longest_grant - 1us));
  EXPECT_TRUE(reconciler.permits("2", base::now() + core::longest_grant));
}

TEST_F(reconciler_test, goes_on_with_what_may_appear_yet) {
  auto e = entry("a", "1");
  e.may_appear = true;
  reconciler.add(e);
  run();
  EXPECT_EQ(releases, 1);
  EXPECT_NE(reconciler.next_due(), base::instant::max());
}

TEST_F(reconciler_test, tells_of_what_was_ended_by_something_that_tells_nobody) {
  auto e = entry("a", "1");
  e.notifies_if_gone = true;
  reconciler.add(e);
  reconciler.add(entry("b", "2"));
  run();
  EXPECT_EQ(notices.told, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace rowlock
