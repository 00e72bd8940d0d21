#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace rowlock::inline v1::core {

/// Identifies one acquisition of a name, or one attempt to queue for it, among all that ever were: 32 hexadecimal
/// digits, of which the first half identifies the client.
class acquisition_id {
 public:
  acquisition_id() = default;  ///< of none
  explicit acquisition_id(std::string text) : text_{std::move(text)} {}
  std::string_view text() const noexcept { return text_; }
  bool is_none() const noexcept { return text_.empty(); }
  friend bool operator==(const acquisition_id&, const acquisition_id&) = default;

 private:
  std::string text_;
};

/// A waiter's position in the queue of a name: tickets are served in the order of their numbers.
enum class ticket_number : std::int64_t { none = 0, last = std::numeric_limits<std::int64_t>::max() };

/// A session of the database server, as the server counts them.
enum class session_number : std::int64_t { several = -1, unknown = 0 };

constexpr std::int64_t to_integer(ticket_number n) noexcept { return static_cast<std::int64_t>(n); }
constexpr std::int64_t to_integer(session_number n) noexcept { return static_cast<std::int64_t>(n); }

}  // namespace rowlock::inline v1::core
