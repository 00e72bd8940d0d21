#include "command/exit_status.hpp"

namespace rowlock::command {

int status_of(const error& e) {
  if (e.code().category() != error_category()) return exit_status::internal;
  switch (static_cast<errc>(e.code().value())) {
    case errc::invalid_name:
    case errc::invalid_option:
    case errc::invalid_url:
    case errc::unsupported:
      return exit_status::usage;
    case errc::timed_out:
      return exit_status::busy;
    case errc::lock_lost:
      return exit_status::lost;
    case errc::permission_denied:
      return exit_status::no_permission;
    case errc::schema_missing:
    case errc::schema_older:
    case errc::schema_newer:
      return exit_status::schema;
    default:
      return exit_status::out_of_reach;
  }
}

}  // namespace rowlock::command
