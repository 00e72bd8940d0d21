#include <string>
#include <utility>

#include "core/error_detail.hpp"

namespace rowlock::inline v1 {

namespace {

const char* words(errc code) noexcept {
  switch (code) {
    case errc::invalid_name:
      return "invalid lock name";
    case errc::invalid_option:
      return "invalid option";
    case errc::invalid_url:
      return "invalid database URL";
    case errc::unsupported:
      return "not supported";
    case errc::timed_out:
      return "timed out";
    case errc::cancelled:
      return "cancelled";
    case errc::contention:
      return "gave up after too many conflicts";
    case errc::lock_lost:
      return "lock lost";
    case errc::not_held:
      return "lock not held";
    case errc::would_deadlock:
      return "would deadlock with oneself";
    case errc::deadlock:
      return "deadlock";
    case errc::serialization_failure:
      return "serialization failure";
    case errc::stale_snapshot:
      return "stale snapshot";
    case errc::connection_failed:
      return "connection failed";
    case errc::call_timed_out:
      return "call to the database timed out";
    case errc::pool_exhausted:
      return "no connection became free in time";
    case errc::outcome_unknown:
      return "outcome unknown";
    case errc::schema_missing:
      return "schema missing";
    case errc::schema_older:
      return "schema too old";
    case errc::schema_newer:
      return "schema too new";
    case errc::permission_denied:
      return "permission denied";
    case errc::client_closed:
      return "client closed";
    case errc::used_after_fork:
      return "used after fork";
    case errc::wrong_transaction_state:
      return "wrong transaction state";
    case errc::database_error:
      return "database error";
  }
  return "unknown rowlock error";
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rowlock"; }
  std::string message(int code) const override { return words(static_cast<errc>(code)); }
};

bool is_usually_retryable(errc code) noexcept {
  switch (code) {
    case errc::timed_out:
    case errc::contention:
    case errc::deadlock:
    case errc::serialization_failure:
    case errc::stale_snapshot:
    case errc::connection_failed:
    case errc::call_timed_out:
    case errc::pool_exhausted:
      return true;
    default:
      return false;
  }
}

}  // namespace

const std::error_category& error_category() noexcept {
  static const category the;
  return the;
}

error::error(errc code, const std::string& sentence)
    : error{detail::error_access::make(code, sentence, detail::error_access::usual(code))} {}

// std::system_error appends the words of the code to the sentence, so what() is overridden.
error::error(errc code, std::shared_ptr<const detail_t> detail)
    : std::system_error{make_error_code(code), detail->sentence}, detail_{std::move(detail)} {}

const char* error::what() const noexcept { return detail_->sentence.c_str(); }
bool error::is_retryable() const noexcept { return detail_->retryable; }
bool error::connection_is_unusable() const noexcept { return detail_->connection_unusable; }
bool error::outcome_is_unknown() const noexcept { return detail_->outcome_unknown; }
int error::native_code() const noexcept { return detail_->native_code; }
std::string_view error::sqlstate() const noexcept { return detail_->sqlstate; }

namespace detail {

error error_access::make(errc code, const std::string& sentence, answers a) {
  a.sentence = sentence;
  return error{code, std::make_shared<const answers>(std::move(a))};
}

error error_access::changed(const error& e, void (*change)(answers&)) {
  auto a = std::make_shared<answers>(*e.detail_);
  change(*a);
  error out{e};
  out.detail_ = std::move(a);
  return out;
}

error_access::answers error_access::usual(errc code) noexcept {
  return {.retryable = is_usually_retryable(code),
          .connection_unusable = code == errc::connection_failed,
          .outcome_unknown = code == errc::outcome_unknown};
}

}  // namespace detail
}  // namespace rowlock::inline v1
