#include "core/deadlock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rowlock {
namespace {

core::waiting_holder waiter(std::int64_t ticket, std::string waits_for, std::vector<std::string> has) {
  return {.ticket = core::ticket_number{ticket},
          .waits_for = std::move(waits_for),
          .owner = "client " + std::to_string(ticket),
          .thread = "thread " + std::to_string(ticket),
          .has = std::move(has)};
}

std::vector<std::int64_t> cycle(const std::vector<core::waiting_holder>& all, std::int64_t youngest) {
  std::vector<std::int64_t> out;
  for (const auto* each : core::find_cycle(all, core::ticket_number{youngest}))
    out.push_back(core::to_integer(each->ticket));
  return out;
}

using numbers = std::vector<std::int64_t>;

TEST(deadlock, of_two_is_found_by_the_younger_alone) {
  const std::vector all{waiter(1, "a", {"b"}), waiter(2, "b", {"a"})};
  EXPECT_EQ(cycle(all, 2), (numbers{2, 1}));
  EXPECT_EQ(cycle(all, 1), numbers{});
  EXPECT_EQ(cycle(all, 3), numbers{});
}

TEST(deadlock, is_no_chain) {
  const std::vector all{waiter(1, "a", {"b"}), waiter(2, "b", {"c"}), waiter(3, "c", {"d"})};
  for (const std::int64_t each : {1, 2, 3}) EXPECT_EQ(cycle(all, each), numbers{});
}

TEST(deadlock, of_many) {
  std::vector<core::waiting_holder> all;
  for (int i = 0; i < 10; ++i)
    all.push_back(waiter(i + 1, "n" + std::to_string(i), {"other", "n" + std::to_string((i + 1) % 10)}));
  EXPECT_EQ(cycle(all, 10).size(), 10U);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(cycle(all, i), numbers{});
}

TEST(deadlock, with_oneself) {
  const std::vector all{waiter(4, "a", {"a", "b"})};
  EXPECT_EQ(cycle(all, 4), numbers{4});
  EXPECT_EQ(core::text_of(core::find_cycle(all, core::ticket_number{4})),
            "client 4 (thread 4) waits for \"a\", which it has itself");
}

TEST(deadlock, beside_others_that_lead_nowhere) {
  const std::vector all{waiter(1, "x", {"b"}),  // shares b, and waits for what nobody here has
                        waiter(2, "a", {"b", "c"}), waiter(3, "c", {"d"}), waiter(5, "b", {"a"}),
                        waiter(7, "d", {"z"})};
  EXPECT_EQ(cycle(all, 5), (numbers{5, 2}));
  EXPECT_EQ(cycle(all, 7), numbers{});
  EXPECT_EQ(cycle(all, 3), numbers{});
}

TEST(deadlock, of_which_each_circle_has_one_youngest) {
  const std::vector all{waiter(1, "a", {"b"}), waiter(2, "b", {"a", "c"}), waiter(3, "c", {"a"})};
  EXPECT_EQ(cycle(all, 2), (numbers{2, 1}));
  EXPECT_EQ(cycle(all, 3), (numbers{3, 2, 1}));
}

TEST(deadlock, names_who_has_what) {
  const std::vector all{waiter(1, "a", {"b"}), waiter(2, "b", {"a"})};
  EXPECT_EQ(core::text_of(core::find_cycle(all, core::ticket_number{2})),
            "client 2 (thread 2) waits for \"b\", which client 1 (thread 1) has; client 1 (thread 1) waits for \"a\", "
            "which client 2 (thread 2) has");
}

}  // namespace
}  // namespace rowlock
