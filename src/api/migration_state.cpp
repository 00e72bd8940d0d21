#include <rowlock/schema_status.hpp>

namespace rowlock::inline v1 {

std::string_view to_string(migration_state state) noexcept {
  switch (state) {
    case migration_state::pending:
      return "pending";
    case migration_state::applied:
      return "applied";
    case migration_state::by_hand:
      return "by_hand";
    case migration_state::edited:
      return "edited";
    case migration_state::unknown:
      break;
  }
  return "unknown";
}

}  // namespace rowlock::inline v1
