#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// The steps of `unique_index` on a session, below everything that a client does around them: 32 names, `at_once` of
/// them in each batch that is acquired and then released.
std::unique_ptr<subject> make_steps(const server& at, const std::string& prefix, std::size_t at_once);

}  // namespace bench
