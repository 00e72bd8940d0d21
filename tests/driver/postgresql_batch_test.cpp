#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "driver/session.hpp"
#include "sql/sheet.hpp"
#include "strategy/strategy.hpp"
#include "support/errors.hpp"

// A batch that waited in vain for a row that somebody has just made, and is sent one by one; with a session that the
// test plays.

namespace rowlock {
namespace {

using namespace std::chrono_literals;

/// Refuses batches. Grants single requests until `fails` is asked for, while somebody has the whole table.
class obstructed_session final : public driver::session {
 public:
  explicit obstructed_session(std::string fails) : fails_{std::move(fails)} {}
  void exclusively(const std::function<void()>& body, const driver::limits& /*until*/) override { body(); }

 private:
  std::vector<driver::row> do_run(const sheets::step& what, std::span<const driver::request> batch,
                                  const driver::limits& /*until*/) override {
    if (what.verb == sheets::verb::inspect) return {};
    const auto name = std::get<std::string_view>(batch[0][0]);
    if (batch.size() > 1 || name == fails_) throw error{errc::call_timed_out, "somebody has the row"};
    return {{std::string{std::get<std::string_view>(batch[0][what.key])}, std::int64_t{1}, std::int64_t{1'000'000}}};
  }
  void do_script(const std::string& /*sql*/) override {}
  std::int64_t do_change_count(const driver::limits& /*until*/) override { return 0; }

  const std::string fails_;
};

std::optional<error> failure_of_batch(const std::string& fails) {
  const auto sql = sheets::postgresql("rowlock_", {});
  obstructed_session session{fails};
  const driver::limits until{};
  const std::vector<strategies::acquire_args> batch{
      {.name = "a", .owner = "o", .thread = "t", .acquisition = "1", .note = {}, .lease = 1s},
      {.name = "b", .owner = "o", .thread = "t", .acquisition = "2", .note = {}, .lease = 1s}};
  return test::error_of([&] {
    return strategies::algorithm{strategies::unique_index}.acquire({.sheet = sql, .session = session, .until = until},
                                                                   batch);
  });
}

TEST(postgresql_batch, that_fails_when_a_part_of_it_was_granted_has_an_unknown_outcome) {
  EXPECT_TRUE(failure_of_batch("b").value().outcome_is_unknown()) << "a is granted, and must not be asked for again";
}

TEST(postgresql_batch, that_fails_before_any_of_it_was_granted_has_not_happened) {
  EXPECT_FALSE(failure_of_batch("a").value().outcome_is_unknown());
}

TEST(postgresql_batch, that_is_not_refused_one_by_one_is_granted) { EXPECT_FALSE(failure_of_batch("none")); }

}  // namespace
}  // namespace rowlock
