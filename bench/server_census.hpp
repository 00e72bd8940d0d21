#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// Counts what the server itself counts: the connections a subject opens and the statements it runs. What others do
/// there meanwhile is counted too.
census count_on(const server& at, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                std::size_t cycles);

}  // namespace bench
