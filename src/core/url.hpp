#pragma once

#include <rowlock/export.hpp>

#include <string>
#include <string_view>

namespace rowlock::inline v1::core {

/// A database's address, cut but not decoded. Views into the text it was cut from.
struct url {
  std::string_view scheme;
  std::string_view body;     // between "scheme:" and '?'
  std::string_view options;  // behind '?'
};

/// Throws error{errc::invalid_url}; what it says never repeats more than the scheme, since the rest may hold a
/// password.
url cut_url(std::string_view text);

/// For sentences about options: `, such as "name"`, without the value, which may be a secret; empty where it has no
/// name.
ROWLOCK_EXPORT std::string first_option(const url& address);

}  // namespace rowlock::inline v1::core
