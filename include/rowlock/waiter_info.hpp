#pragma once

#include <cstdint>
#include <string>

#include <rowlock/duration.hpp>

namespace rowlock::inline v1 {

/// One who waits for a lock, as the database has it; times are the database's.
struct waiter_info {
  std::int64_t ticket = 0;  ///< the place in the queue: the least is the next
  std::string owner{};      ///< the client: application:host:pid:id
  std::string thread{};     ///< the holder inside the client that it is to be
  duration age{};           ///< for how long it has been waiting
};

}  // namespace rowlock::inline v1
