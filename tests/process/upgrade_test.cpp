#include <gtest/gtest.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "process/roles.hpp"
#include "process/visits.hpp"
#include "server/steps.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

// A rolling deploy: programs of the first schema go on, while others migrate, and programs of this library join them.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using store::release_outcome;
using store::standing;
using strategies::verdict;

constexpr int visits_before = 10;  // of each old program
constexpr auto breath = 5ms;       // between two visits, so that others have a chance: the old ones do not go by turns
constexpr std::size_t visits_after = 5;  // of them all, when the new ones have done theirs

/// The texts of the first schema are ours, but for a release that tells the first waiter in the same statement.
dialect::table without_waiters(const dialect::table& ours) {
  std::vector<dialect::step> all;
  for (std::size_t v = 0; v < dialect::table::size; ++v) {
    auto& each = all.emplace_back(ours[static_cast<dialect::verb>(v)]);
    each.verb = static_cast<dialect::verb>(v);  // also of one that this database does not need
    if (each.verb == dialect::verb::release && each.act && each.act->find("rowlock_waiter") != std::string::npos)
      each.act->erase(each.act->find(',', each.act->find("RETURNING")));
  }
  return {all, "rowlock_", ours.can()};
}

/// Sends what a program of the first schema does, and neither asks for the schema nor knows of waiters. One lock at a
/// time.
class old_program {
 public:
  explicit old_program(const std::string& url) : steps_{url, {}, without_waiters} {}

  /// Asks until it has it.
  fencing_token acquire(const std::string& name) {
    fencing_token token;
    insist([&] {
      acquisition_ = "old/" + std::to_string(::getpid()) + "/" + std::to_string(++attempts_);
      const strategies::acquire_args one{.name = name,
                                         .owner = "old:host:1:1",
                                         .thread = "1",
                                         .acquisition = acquisition_,
                                         .note = {},
                                         .lease = lease};
      const auto answer = steps_.acquire({&one, 1}).at(0);
      token = answer.token;
      return answer.what == verdict::granted;
    });
    return token;
  }
  bool renew(const std::string& name) {
    auto what = standing::inconclusive;
    insist([&] {
      const store::lease_ref mine{.name = name, .acquisition = acquisition_, .lease = lease};
      what = steps_.renew({&mine, 1}).at(0).what;
      return what != standing::inconclusive;
    });
    return what == standing::kept;
  }
  bool release(const std::string& name) {
    auto what = release_outcome::pinned;
    insist([&] {
      const store::lease_ref mine{.name = name, .acquisition = acquisition_, .lease = lease};
      what = steps_.release({&mine, 1}).at(0);
      return what != release_outcome::pinned;
    });
    return what == release_outcome::released;
  }

 private:
  static constexpr duration lease = 60s;

  template <class Try>
  static void insist(Try once) {
    static_cast<void>(eventually([&] {
      bool is_done = false;
      const auto e = error_of([&] { return is_done = once(); });
      if (e && !e->is_retryable()) throw error{*e};
      return is_done;
    }));
  }

  steps steps_;
  std::string acquisition_;
  int attempts_ = 0;
};

/// old_program URL FOLDER: counts under the lock until it finds "enough" in the folder. Says "going" when it has begun,
/// and at the end how often it has counted.
int count_as_an_old_program(const std::vector<std::string>& arguments) {
  old_program program{arguments.at(0)};
  const std::filesystem::path folder{arguments.at(1)};
  int count = 0;
  const auto is_enough = [&] { return std::filesystem::exists(folder / "enough"); };
  do {
    const auto token = program.acquire("counter");
    if (!program.renew("counter")) return 2;
    visit(folder, token);
    if (!program.release("counter")) return 3;
    if (++count == visits_before) say("going");
  } while (!eventually(breath, is_enough));
  say(std::to_string(count));
  return 0;
}

const role_registration old_program_role{"old_program", count_as_an_old_program};

class upgrade : public on_each_database_with<strategy> {
 protected:
  upgrade() { db().return_to_first_schema(); }

  using crew = std::vector<std::unique_ptr<child_process>>;
  static crew start(int number, const char* role, const std::vector<std::string>& arguments) {
    crew out;
    for (int i = 0; i < number; ++i) out.push_back(std::make_unique<child_process>(role, arguments));
    return out;
  }
  static void run(crew& all) {
    for (auto& each : all) each->expect("ready");
    for (auto& each : all) each->send("go");
    for (auto& each : all) EXPECT_EQ(each->wait(), 0);
  }
  /// By the file that only grows: the other may be read while it is being written.
  std::size_t visits() const { return numbers_of(folder_ / "tokens").size(); }

  const temp_folder folder_{};
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(upgrade, all_strategies);

TEST_P(upgrade, goes_on_while_programs_of_both_versions_run) {
  const auto url = db().url();
  const auto folder = folder_.path().string();
  auto old = start(2, "old_program", {url, folder});
  for (auto& each : old) each->expect("going");
  EXPECT_TRUE(
      throws(errc::schema_older, [&] { static_cast<void>(connect().try_acquire("counter", {.strategy = what()})); }));

  crew migrators;
  for (const std::string name : {"one", "two", "three"})
    migrators.push_back(std::make_unique<child_process>("migrator", std::vector{url, name}));
  run(migrators);
  auto young = start(2, "visitor", {url, folder, std::string{to_string(what())}});
  run(young);
  const auto so_far = visits();
  EXPECT_TRUE(eventually([&] { return visits() >= so_far + visits_after; })) << "the old ones have stopped";

  std::ofstream{folder_ / "enough"}.flush();
  std::int64_t by_old = 0;
  for (auto& each : old) {
    by_old += std::stoll(each->read_line());
    EXPECT_EQ(each->wait(), 0);
  }
  EXPECT_EQ(numbers_of(folder_ / "counter"), std::vector<std::int64_t>{by_old + 2 * visits_of_visitor});
  EXPECT_TRUE(grow(numbers_of(folder_ / "tokens")));
}

TEST_P(upgrade, leaves_a_lease_of_an_old_program_alone) {
  old_program holder{db().url()};
  const auto token = holder.acquire("kept");
  const auto row = db().row("kept").value();
  auto locks = connect();
  locks.migrate();
  EXPECT_EQ(db().row("kept").value().acquisition, row.acquisition);
  EXPECT_FALSE(locks.try_acquire("kept", {.strategy = what()}).has_value());
  EXPECT_TRUE(holder.renew("kept"));
  EXPECT_TRUE(holder.release("kept"));
  const auto next = locks.try_acquire("kept", {.strategy = what()});
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
}

}  // namespace
}  // namespace rowlock::test
