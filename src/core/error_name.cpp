#include <rowlock/error.hpp>

namespace rowlock::inline v1 {

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_name:
      return "invalid_name";
    case errc::invalid_option:
      return "invalid_option";
    case errc::invalid_url:
      return "invalid_url";
    case errc::unsupported:
      return "unsupported";
    case errc::timed_out:
      return "timed_out";
    case errc::cancelled:
      return "cancelled";
    case errc::contention:
      return "contention";
    case errc::lock_lost:
      return "lock_lost";
    case errc::not_held:
      return "not_held";
    case errc::would_deadlock:
      return "would_deadlock";
    case errc::deadlock:
      return "deadlock";
    case errc::serialization_failure:
      return "serialization_failure";
    case errc::stale_snapshot:
      return "stale_snapshot";
    case errc::connection_failed:
      return "connection_failed";
    case errc::call_timed_out:
      return "call_timed_out";
    case errc::pool_exhausted:
      return "pool_exhausted";
    case errc::outcome_unknown:
      return "outcome_unknown";
    case errc::schema_missing:
      return "schema_missing";
    case errc::schema_older:
      return "schema_older";
    case errc::schema_newer:
      return "schema_newer";
    case errc::permission_denied:
      return "permission_denied";
    case errc::client_closed:
      return "client_closed";
    case errc::used_after_fork:
      return "used_after_fork";
    case errc::wrong_transaction_state:
      return "wrong_transaction_state";
    case errc::database_error:
      return "database_error";
  }
  return "unknown";
}

}  // namespace rowlock::inline v1
