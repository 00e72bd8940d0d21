#pragma once

#include <memory>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// What the server has of its own: no row, no disk, no expiry, and a connection for every lock.
std::unique_ptr<subject> make_session_locks(const server& at);

}  // namespace bench
