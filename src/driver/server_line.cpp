#include "driver/server_line.hpp"

#include <rowlock/error.hpp>

#include <utility>

#include "core/error_detail.hpp"
#include "driver/boot_clock.hpp"

namespace rowlock::inline v1::driver {

bool server_line::looks_alive() noexcept {
  is_dead_ = is_dead_ || socket_.has_hung_up();
  return !is_dead_;
}

void server_line::die() noexcept {
  if (std::exchange(is_dead_, true) || !lost_) return;
  try {
    lost_();
  } catch (...) {  // then it ends by the server's own limits
  }
}

void server_line::begin(const purpose& why, const limits& until) {
  if (now() >= until.deadline) throw error{errc::call_timed_out, std::string{"no time was left for "} + why.doing};
  // What is sent to a server that has gone already would be of unknown outcome.
  if (!looks_alive())
    throw error{errc::connection_failed, server_ + ", while " + why.doing + ": the connection was lost"};
}

void server_line::throw_if_cut(line_cutter::reason cut, const purpose& why) {
  if (cut == line_cutter::reason::none) return;
  die();
  if (cut == line_cutter::reason::stop)
    throw detail::error_access::make(errc::cancelled, std::string{"stopped while "} + why.doing,
                                     {.connection_unusable = true, .outcome_unknown = why.writing});
  throw detail::error_access::make(errc::call_timed_out,
                                   server_ + ", while " + why.doing + ": no answer within the time limit",
                                   {.retryable = true, .connection_unusable = true, .outcome_unknown = why.writing});
}

}  // namespace rowlock::inline v1::driver
