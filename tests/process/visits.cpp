#include "process/visits.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

#include "process/roles.hpp"

namespace rowlock::test {

void visit(const std::filesystem::path& folder, fencing_token token) {
  increment(folder / "counter");
  std::ofstream{folder / "tokens", std::ios::app} << std::to_string(token.value()) + "\n" << std::flush;
}

std::vector<std::int64_t> numbers_of(const std::filesystem::path& file) {
  std::vector<std::int64_t> out;
  std::ifstream in{file};
  for (std::int64_t each = 0; in >> each;) out.push_back(each);
  return out;
}

bool grow(const std::vector<std::int64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>{}) == numbers.end();
}

}  // namespace rowlock::test
