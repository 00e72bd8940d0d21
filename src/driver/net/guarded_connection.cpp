#include "driver/net/guarded_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <rowlock/error.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/error_detail.hpp"
#include "driver/failure_meaning.hpp"

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

bool guarded_connection::looks_alive() noexcept {
  is_dead_ = is_dead_ || socket_.has_hung_up();
  return !is_dead_;
}

void guarded_connection::die() noexcept {
  if (std::exchange(is_dead_, true) || !lost_) return;
  try {
    lost_();
  } catch (...) {  // then the server's own limits end the session
  }
}

void guarded_connection::begin(const call_description& why, const limits& until) {
  if (base::now() >= until.deadline)
    throw error{errc::call_timed_out, failure_of(why.doing, server_) + "the time limit had passed before it began"};
  // The outcome of a statement that is sent to a server that has already closed the connection would be unknown.
  if (!looks_alive()) throw error{errc::connection_failed, failure_of(why.doing, server_) + "the connection was lost"};
}

void guarded_connection::throw_if_cut(call_watchdog::reason cut, const call_description& why) {
  if (cut == call_watchdog::reason::none) return;
  die();
  if (cut == call_watchdog::reason::stop)
    throw detail::error_access::make(errc::cancelled, std::string{"stopped while "} + why.doing,
                                     {.connection_unusable = true, .outcome_unknown = why.writing});
  throw detail::error_access::make(errc::call_timed_out,
                                   failure_of(why.doing, server_) + "no answer within the time limit",
                                   {.retryable = true, .connection_unusable = true, .outcome_unknown = why.writing});
}

}  // namespace rowlock::inline v1::driver
