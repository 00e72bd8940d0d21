#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace rowlock::test {

/// The values for which the condition holds. It excludes the values that a test cannot run for, so that no test is
/// skipped.
template <class Value, class Condition>
std::vector<Value> where(std::vector<Value> all, Condition&& holds) {
  std::erase_if(all, std::not_fn(std::forward<Condition>(holds)));
  return all;
}

}  // namespace rowlock::test
