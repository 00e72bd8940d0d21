#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error_detail.hpp"

namespace rowlock::inline v1 {

namespace {

struct described_code {
  std::string_view name;
  const char* words = nullptr;
  bool is_retryable = false;  // for most errors of the code
};

// In the order of errc, which begins with 1.
constexpr described_code codes[] = {{"invalid_name", "invalid lock name"},
                                    {"invalid_option", "invalid option"},
                                    {"invalid_url", "invalid database URL"},
                                    {"unsupported", "not supported"},
                                    {"timed_out", "timed out", true},
                                    {"cancelled", "cancelled"},
                                    {"contention", "gave up after too many conflicts", true},
                                    {"lock_lost", "lock lost"},
                                    {"not_held", "lock not held"},
                                    {"would_deadlock", "would deadlock with oneself"},
                                    {"deadlock", "deadlock", true},
                                    {"serialization_failure", "serialization failure", true},
                                    {"stale_snapshot", "stale snapshot", true},
                                    {"connection_failed", "connection failed", true},
                                    {"call_timed_out", "call to the database timed out", true},
                                    {"pool_exhausted", "no connection became free in time", true},
                                    {"outcome_unknown", "outcome unknown"},
                                    {"schema_missing", "schema missing"},
                                    {"schema_older", "schema too old"},
                                    {"schema_newer", "schema too new"},
                                    {"permission_denied", "permission denied"},
                                    {"client_closed", "client closed"},
                                    {"used_after_fork", "used after fork"},
                                    {"wrong_transaction_state", "wrong transaction state"},
                                    {"database_error", "database error"}};
static_assert(std::size(codes) == static_cast<std::size_t>(errc::database_error));

constexpr described_code description_of(errc code) noexcept {
  const auto at = static_cast<std::size_t>(code) - 1;
  return at < std::size(codes) ? codes[at] : described_code{"unknown", "unknown rowlock error"};
}
static_assert(description_of(errc::lock_lost).name == "lock_lost" &&
              description_of(errc::database_error).name == "database_error");

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rowlock"; }
  std::string message(int code) const override { return description_of(static_cast<errc>(code)).words; }
};

}  // namespace

std::string_view to_string(errc code) noexcept { return description_of(code).name; }

const std::error_category& error_category() noexcept {
  static const category the;
  return the;
}

error::error(errc code, const std::string& sentence)
    : error{detail::error_access::make(code, sentence, detail::error_access::usual(code))} {}

// std::system_error appends the code's message to the sentence, so what() is overridden.
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
  return {.retryable = description_of(code).is_retryable,
          .connection_unusable = code == errc::connection_failed,
          .outcome_unknown = code == errc::outcome_unknown};
}

}  // namespace detail
}  // namespace rowlock::inline v1
