#pragma once

#include <cstddef>
#include <functional>

#include "contest.hpp"
#include "crew.hpp"
#include "subject.hpp"

namespace bench {

/// Lets fresh workers do a little of something and then, others, much of it: what the second time takes more is what
/// that more of it needs. `little` and `much` give the number of cycles that were done.
census count_workers(const contest& what, const contestant& who, const std::function<double(crew&)>& little,
                     const std::function<double(crew&)>& much);

}  // namespace bench
