#pragma once

#include <memory>
#include <vector>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// Each subject in tables of its own, which are gone afterwards.
std::vector<bench_case> cases_on(const std::shared_ptr<const server>& at);

}  // namespace bench
