#include "driver/net/socket_descriptor.hpp"

#include <rowlock/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rowlock::inline v1::driver {

socket_descriptor::socket_descriptor(int of) : number_{fcntl(of, F_DUPFD_CLOEXEC, 0)} {
  if (number_ < 0)
    throw error{errc::connection_failed,
                "a socket's descriptor cannot be duplicated: " + std::generic_category().message(errno)};
}

socket_descriptor::~socket_descriptor() { close(number_); }

bool socket_descriptor::has_hung_up() const noexcept {
  pollfd one{.fd = number_, .events = POLLRDHUP, .revents = 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace rowlock::inline v1::driver
