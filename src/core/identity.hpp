#pragma once

#include <rowlock/fencing_token.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::inline v1::core {

/// Identifies one acquisition of a name, or one attempt to queue for it, among all there ever were: 32 hexadecimal
/// digits, whose first half identifies the client. This holds for ids of this program; a row may contain any text.
class acquisition_id {
 public:
  static constexpr std::size_t longest = 32;

  acquisition_id() = default;  ///< no acquisition
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

/// Whether the client with this owner has made this id: the owner ends with the client's part, and the id begins with
/// it.
constexpr bool is_of(std::string_view owner, std::string_view acquisition) noexcept {
  return owner.ends_with(acquisition.substr(0, acquisition_id::longest / 2));
}

/// A waiter's position in the queue of a name: tickets are served in the order of their numbers.
enum class ticket_number : std::int64_t { none = 0, last = std::numeric_limits<std::int64_t>::max() };

/// A session of the database server, as the server counts them.
enum class session_number : std::int64_t { several = -1, unknown = 0 };

constexpr std::int64_t to_integer(ticket_number n) noexcept { return static_cast<std::int64_t>(n); }
constexpr std::int64_t to_integer(session_number n) noexcept { return static_cast<std::int64_t>(n); }

/// The holder of a name, as far as the database shows.
struct lock_owner {
  fencing_token token{};      ///< 0: not known, because a transaction holds the name
  fencing_token committed{};  ///< the version of the row
  bool is_committed = false;  ///< held by a lease; otherwise by a transaction that has not ended
  std::string acquisition{};  ///< of a lease, as in its row
  /// The server's session that keeps the row locked, as far as it is known, and its own name for itself.
  std::optional<session_number> session{};
  std::string session_name{};
  /// Other sessions that keep the row locked as well: a renewal does so for a moment while a transaction pins it, and
  /// several transactions may pin one lease.
  std::vector<session_number> other_sessions{};

  bool is_kept_by(session_number one) const noexcept {
    return session == one || std::find(other_sessions.begin(), other_sessions.end(), one) != other_sessions.end();
  }

  /// Whether this, seen later, is the owner that was seen `then`. A lease that has ended since is the same owner if it
  /// is still pinned, and if one of the sessions that pin it now was seen to pin it before.
  bool is_still(const lock_owner& then) const noexcept {
    if (committed != then.committed) return false;
    if (is_committed) return then.is_committed;
    if (!session) return !then.session && !then.is_committed;
    return then.is_kept_by(*session) || std::any_of(other_sessions.begin(), other_sessions.end(),
                                                    [&](session_number each) { return then.is_kept_by(each); });
  }
};

}  // namespace rowlock::inline v1::core
