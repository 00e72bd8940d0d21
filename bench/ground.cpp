#include "ground.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

std::string ground::text(const std::string& of) const {
  return fmt::format(fmt::runtime(of), fmt::arg("prefix", prefix));
}

void add_old_rows(const ground& to, std::size_t rows) {
  to.at.connect()->execute(
      fmt::format(fmt::runtime(to.at.add_old), fmt::arg("prefix", to.prefix), fmt::arg("rows", rows)));
}

bench_case whole_case(std::string name, const std::string& database, std::size_t threads,
                      std::vector<std::string> subjects, std::function<std::vector<measurement>(bool)> measure) {
  bench_case made{.name = std::move(name), .database = database, .threads = threads};
  for (auto& each : subjects) made.subjects.push_back({.name = std::move(each), .make = {}});
  made.measure_whole = std::move(measure);
  return made;
}

}  // namespace bench
