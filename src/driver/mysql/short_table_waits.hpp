#pragma once

#include <memory>
#include <string>
#include <thread>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// While it lives, it interrupts each statement of the session with that mark that waits for a table for longer than
/// `change_wait`, by asking the server on another session. As far as it can: then the server's own limits do.
class short_table_waits {
 public:
  short_table_waits(std::unique_ptr<session> by, std::string mark, const limits& until);

 private:
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::driver
