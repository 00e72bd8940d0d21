#include <gtest/gtest.h>

#include "base/recent_names.hpp"

namespace rowlock::test {
namespace {

TEST(brief_names, are_tried_more_and_more_rarely_while_that_does_not_help) {
  base::brief_names names;
  const auto waits_until_next_trial = [&] {
    int waits = 0;
    for (; !names.is_worth_trying("orders/42"); names.waited("orders/42")) ++waits;
    return waits;
  };
  for (const int waits : {0, 1, 3, 7, 15, 31, 63, 127, 127}) {
    EXPECT_EQ(waits_until_next_trial(), waits);
    names.tried("orders/42", false);
  }
  names.tried("orders/42", true);
  names.waited("orders/42");
  EXPECT_EQ(waits_until_next_trial(), 0) << "as long as it helps";
}

}  // namespace
}  // namespace rowlock::test
