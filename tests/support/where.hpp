#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace rowlock::test {

/// Those of them for which it holds. What a test cannot be run for is left out here, rather than skipped by the test.
template <class Value, class Condition>
std::vector<Value> where(std::vector<Value> all, Condition&& holds) {
  std::erase_if(all, std::not_fn(std::forward<Condition>(holds)));
  return all;
}

}  // namespace rowlock::test
