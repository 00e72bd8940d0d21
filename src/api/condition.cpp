#include <rowlock/diagnosis.hpp>

namespace rowlock::inline v1 {

std::string_view to_string(condition c) noexcept {
  switch (c) {
    case condition::ok:
      return "ok";
    case condition::advice:
      return "advice";
    case condition::failed:
      return "failed";
    case condition::unknown:
      break;
  }
  return "unknown";
}

}  // namespace rowlock::inline v1
