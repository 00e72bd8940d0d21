#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "subject.hpp"

namespace bench {

/// Counts while `make` makes a subject and it runs: the connections it opens and the statements it starts, whoever in
/// this process opens and starts them.
census count_sqlite(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads);

}  // namespace bench
