#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

std::string_view to_string(strategy s) noexcept {
  switch (s) {
    case strategy::unique_index:
      return "unique_index";
    case strategy::for_update:
      return "for_update";
    case strategy::version_cas:
      return "version_cas";
  }
  return "unknown";
}

std::string_view to_string(fairness f) noexcept {
  switch (f) {
    case fairness::unfair:
      return "unfair";
    case fairness::fifo:
      return "fifo";
  }
  return "unknown";
}

}  // namespace rowlock::inline v1
