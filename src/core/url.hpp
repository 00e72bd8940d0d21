#pragma once

#include <rowlock/export.hpp>

#include <string>
#include <string_view>

namespace rowlock::inline v1::core {

/// A database's address, cut but not decoded: views into the original text.
struct url {
  std::string_view scheme;
  std::string_view body;     // between "scheme:" and '?'
  std::string_view options;  // after '?'
};

/// Throws error{errc::invalid_url}; the message repeats at most the scheme, since the rest may contain a password.
url cut_url(std::string_view text);

/// For sentences about options: `, such as "name"`, without the value, which may be a secret; empty if the option has
/// no name.
ROWLOCK_EXPORT std::string first_option(const url& address);

}  // namespace rowlock::inline v1::core
