#pragma once

#include <rowlock/client.hpp>

#include <string_view>
#include <vector>

namespace rowlock::command {

/// Who holds and who waits, of all names that begin alike; both in the order of the names.
struct overview {
  std::vector<lock_info> held{};
  std::vector<waiter_info> queue{};
};

overview look_at_all(client& locks, std::string_view prefix);

}  // namespace rowlock::command
