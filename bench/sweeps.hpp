#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// Fresh tables, as long as `place` is kept.
struct ground {
  std::shared_ptr<const void> place;
  server at;
  std::string prefix;
};

/// A table of old rows: cycles beside its sweep, and how long it takes to be rid of them.
std::vector<bench_case> sweep_cases(const std::string& database, const std::function<ground()>& make);

}  // namespace bench
