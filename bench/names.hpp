#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "result.hpp"

namespace bench {

/// As people write it.
std::string display_name(std::string_view database);

/// Those that there are results of, in their order.
std::vector<std::string> databases_of(const std::vector<result>& results);

}  // namespace bench
