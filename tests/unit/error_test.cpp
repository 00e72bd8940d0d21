#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <set>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace rowlock::test {
namespace {

std::vector<errc> all_codes() {
  std::vector<errc> out;
  for (int i = static_cast<int>(errc::invalid_name); i <= static_cast<int>(errc::database_error); ++i)
    out.push_back(static_cast<errc>(i));
  return out;
}

TEST(error_test, has_a_category_of_its_own) {
  EXPECT_STREQ(error_category().name(), "rowlock");
  EXPECT_EQ(&error_category(), &error_category());
  EXPECT_NE(error_category(), std::generic_category());
}

TEST(error_test, every_code_has_words_of_its_own) {
  std::set<std::string> seen;
  for (const auto code : all_codes()) {
    const auto words = make_error_code(code).message();
    EXPECT_FALSE(words.empty());
    EXPECT_TRUE(seen.insert(words).second) << words;
  }
  EXPECT_EQ(seen.size(), 25U);
}

TEST(error_test, an_unknown_code_has_words_too) { EXPECT_FALSE(error_category().message(4711).empty()); }

TEST(error_test, codes_compare_with_error_codes) {
  const std::error_code code = errc::lock_lost;
  EXPECT_TRUE(code == errc::lock_lost);
  EXPECT_TRUE(code != errc::not_held);
  EXPECT_EQ(code.category(), error_category());
  EXPECT_NE(code, std::error_code(static_cast<int>(errc::lock_lost), std::generic_category()));
  EXPECT_FALSE(std::error_code{} == errc::invalid_name) << "no code is zero";
}

TEST(error_test, says_the_sentence_and_is_a_system_error) {
  try {
    throw error{errc::lock_lost, "the lock 'orders/42' is lost"};
  } catch (const std::system_error& e) {
    EXPECT_TRUE(e.code() == errc::lock_lost);
    EXPECT_NE(std::string{e.what()}.find("the lock 'orders/42' is lost"), std::string::npos);
  }
}

TEST(error_test, only_what_passes_may_be_repeated_and_only_an_unknown_outcome_is_unknown) {
  const std::set passes{
      errc::timed_out,      errc::contention,        errc::deadlock,       errc::serialization_failure,
      errc::stale_snapshot, errc::connection_failed, errc::call_timed_out, errc::pool_exhausted};
  for (const auto code : all_codes()) {
    const error e{code, "x"};
    EXPECT_EQ(e.is_retryable(), passes.contains(code)) << e.what();
    EXPECT_EQ(e.outcome_is_unknown(), code == errc::outcome_unknown) << e.what();
    EXPECT_EQ(e.native_code(), 0);
    EXPECT_EQ(e.sqlstate(), "");
  }
  EXPECT_TRUE((error{errc::connection_failed, "x"}.connection_is_unusable()));
  EXPECT_FALSE((error{errc::lock_lost, "x"}.connection_is_unusable()));
}

TEST(error_test, a_copy_answers_the_same_and_what_was_moved_from_can_still_be_asked) {
  const error original{errc::connection_failed, "no route"};
  const error copy = original;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_STREQ(copy.what(), original.what());
  EXPECT_EQ(copy.code(), original.code());
  EXPECT_TRUE(copy.is_retryable());
  error assigned{errc::lock_lost, "other"};
  assigned = original;
  EXPECT_EQ(assigned.code(), original.code());
  EXPECT_TRUE(assigned.connection_is_unusable());
  static_assert(std::is_nothrow_copy_constructible_v<error>);
  static_assert(std::is_nothrow_copy_assignable_v<error>);
  const error moved = std::move(assigned);  // NOLINT(performance-move-const-arg): it is copied
  EXPECT_TRUE(moved.is_retryable());
  EXPECT_NO_FATAL_FAILURE(static_cast<void>(assigned.is_retryable()));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(assigned.native_code(), 0);
}

}  // namespace
}  // namespace rowlock::test
