#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace rowlock::inline v1::core {

/// Identifies one acquisition of a name, or one attempt to queue for it, among all that ever were: 32 hexadecimal
/// digits, of which the first half identifies the client. Only those of this process: a row may have any text.
class acquisition_id {
 public:
  static constexpr std::size_t longest = 32;

  acquisition_id() = default;  ///< of none
  /// Throws std::length_error.
  explicit acquisition_id(std::string_view text) : size_{static_cast<std::uint8_t>(text.size())} {
    if (text.size() > longest) throw std::length_error{"acquisition_id"};
    text.copy(text_.data(), text.size());
  }
  std::string_view text() const noexcept { return {text_.data(), size_}; }
  bool is_none() const noexcept { return size_ == 0; }
  friend bool operator==(const acquisition_id&, const acquisition_id&) = default;

 private:
  std::array<char, longest> text_{};
  std::uint8_t size_ = 0;
};

/// Whether the client with this owner has made this id: the one ends with the client's, the other begins with it.
constexpr bool is_of(std::string_view owner, std::string_view acquisition) noexcept {
  return owner.ends_with(acquisition.substr(0, acquisition_id::longest / 2));
}

/// A waiter's position in the queue of a name: tickets are served in the order of their numbers.
enum class ticket_number : std::int64_t { none = 0, last = std::numeric_limits<std::int64_t>::max() };

/// A session of the database server, as the server counts them.
enum class session_number : std::int64_t { several = -1, unknown = 0 };

constexpr std::int64_t to_integer(ticket_number n) noexcept { return static_cast<std::int64_t>(n); }
constexpr std::int64_t to_integer(session_number n) noexcept { return static_cast<std::int64_t>(n); }

}  // namespace rowlock::inline v1::core
