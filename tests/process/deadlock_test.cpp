#include <algorithm>
#include <mutex>

#include "process/process_test.hpp"

// Processes that each have a name and wait for that of the next.

namespace rowlock::test {
namespace {

/// embracer URL STRATEGY FIRST SECOND: has the first name, and then waits for the second.
int embrace(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const lock_options options{.strategy = strategy_named(arguments.at(1))};
  mutex first{locks, arguments.at(2), options};
  mutex second{locks, arguments.at(3), options};
  const std::lock_guard has{first};
  if (!goes_with_the_others()) return 1;
  const auto e = error_of([&] { const std::lock_guard then{second}; });
  say(!e ? "got it" : e->code() == errc::deadlock ? "deadlock" : e->what());
  return 0;
}

const role_registration embracer_role{"embracer", embrace};

class deadlocks_of_processes : public on_each_database_with<strategy> {
 protected:
  crew in_a_circle(int number) {
    crew out;
    for (int i = 0; i < number; ++i)
      join(out, "embracer",
           {db().url(), std::string{to_string(what())}, "name " + std::to_string(i),
            "name " + std::to_string((i + 1) % number)});
    go_together(out);
    return out;
  }
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(deadlocks_of_processes, all_strategies);

TEST_P(deadlocks_of_processes, end_with_one_of_them) {
  auto all = in_a_circle(3);
  std::vector<std::string> ends;
  for (auto& each : all) {
    ends.push_back(each->read_line());
    EXPECT_EQ(each->wait(), 0);
  }
  EXPECT_EQ(std::count(ends.begin(), ends.end(), "deadlock"), 1);
  EXPECT_EQ(std::count(ends.begin(), ends.end(), "got it"), 2);
}

}  // namespace
}  // namespace rowlock::test
