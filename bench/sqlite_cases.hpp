#pragma once

#include <vector>

#include "subject.hpp"

namespace bench {

std::vector<bench_case> sqlite_cases();

}  // namespace bench
