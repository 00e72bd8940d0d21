#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "property/player.hpp"
#include "support/databases.hpp"
#include "support/recorder.hpp"
#include "support/seed.hpp"
#include "support/tier.hpp"
#include "transaction/caller.hpp"

namespace rowlock::test::property {
namespace {

constexpr int length = 40;

class programs : public on_each_database {
 protected:
  programs()
      : player_{connect(), open_caller(db().url(), is_in_file() ? "immediate" : "read committed"), !is_in_file()} {}
  static bool is_in_file() { return GetParam().name == "sqlite"; }

  std::optional<std::string> play(const program& all, mistake wrong = mistake::none) {
    return player_.play(all, wrong);
  }
  program shortest(const program& failing, mistake wrong) {
    return shrunk(failing, [&](const program& shorter) { return play(shorter, wrong).has_value(); });
  }

 private:
  std::vector<client> connect() const {
    std::vector<client> out;
    for (int i = 0; i < clients; ++i)
      out.push_back(connect_patiently(db().url(), {.held_transactions = static_cast<std::size_t>(names)}));
    out[0].migrate();
    return out;
  }
  player player_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(programs);

TEST_P(programs, do_as_the_reference_says) {
  for (unsigned i = 0; i < static_cast<unsigned>(many(2000, 100)); ++i) {
    const auto all = random_program(seed() + i, length);
    if (!play(all)) continue;
    const auto least = shortest(all, mistake::none);
    FAIL() << "program " << i << " of seed " << seed() << ", as short as it gets:\n"
           << least << "there " << play(least).value_or("nothing is wrong any more");
  }
}

// Would they find anything?
TEST_P(programs, tell_a_wrong_reference_by_a_few_steps) {
  for (const auto wrong :
       {mistake::sharers_exclude_each_other, mistake::permits_are_endless, mistake::first_handle_lets_go,
        mistake::upgrades_beside_others, mistake::force_is_told_at_once}) {
    unsigned i = 0;
    while (i < 200 && !play(random_program(i, length), wrong)) ++i;
    ASSERT_LT(i, 200U) << static_cast<int>(wrong);
    const auto least = shortest(random_program(i, length), wrong);
    EXPECT_LE(least.size(), 4U) << least;
    EXPECT_FALSE(play(least)) << "and only that one:\n" << least;
  }
}

}  // namespace
}  // namespace rowlock::test::property
