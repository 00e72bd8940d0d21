#pragma once

#include <string>
#include <vector>

#include "subject.hpp"

namespace bench {

/// Each subject in tables of its own, which are gone afterwards.
std::vector<bench_case> postgresql_cases(const std::string& url);

}  // namespace bench
