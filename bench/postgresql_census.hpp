#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "subject.hpp"

namespace bench {

/// Counts by the server's statistics: the connections a subject opens and the transactions it runs, each of them one
/// statement here. What others do in that database meanwhile is counted too.
census count_postgresql(const std::string& url, const std::function<std::unique_ptr<subject>()>& make,
                        std::size_t threads);

}  // namespace bench
