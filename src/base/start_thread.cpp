#include "base/start_thread.hpp"

#include <rowlock/error.hpp>

#include <string>

namespace rowlock::inline v1::base {

void throw_no_thread(const std::system_error& because) {
  throw error{errc::connection_failed, std::string{"a thread of the client cannot be started: "} + because.what() +
                                           "; raise the limit of processes and threads (ulimit -u, TasksMax)"};
}

}  // namespace rowlock::inline v1::base
