#include <rowlock/loss_reason.hpp>

namespace rowlock::inline v1 {

std::string_view to_string(loss_reason reason) noexcept {
  switch (reason) {
    case loss_reason::none:
      return "none";
    case loss_reason::expired:
      return "expired";
    case loss_reason::taken_over:
      return "taken_over";
    case loss_reason::forced:
      return "forced";
    case loss_reason::row_vanished:
      return "row_vanished";
    case loss_reason::unreachable:
      return "unreachable";
    case loss_reason::session_ended:
      return "session_ended";
    case loss_reason::hold_limit:
      return "hold_limit";
    case loss_reason::client_closed:
      return "client_closed";
    case loss_reason::forked:
      return "forked";
  }
  return "unknown";
}

}  // namespace rowlock::inline v1
