#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/url.hpp"

namespace rowlock::inline v1::driver {

/// As in the option `ssl-mode`.
enum class encryption : std::uint8_t { disabled, preferred, required, verify_ca, verify_identity };

/// Where a database is and how to connect to it, from a URL.
///
///   mysql://user:password@host:port/database?option=value&…      mariadb:// is the same
struct mysql_address {
  std::string user{};
  std::string password{};
  std::string host = "localhost";
  std::uint16_t port = 3306;
  std::string socket{};  ///< a path; empty: TCP
  std::string database{};
  encryption tls = encryption::preferred;
  std::string ca{};  ///< this and the next two are files, or empty
  std::string ca_folder{};
  std::string certificate{};
  std::string key{};
  std::string ciphers{};

  /// Not on a Unix socket, unless the URL requires it: no one can eavesdrop there.
  bool tries_encryption() const noexcept {
    return must_be_encrypted() || (tls == encryption::preferred && socket.empty());
  }
  /// Whether a session that is not encrypted is refused.
  bool must_be_encrypted() const noexcept { return tls >= encryption::required; }
  /// For messages: "MySQL (host:port/database)", without user and password.
  std::string server_name(std::string_view kind) const;
  /// The database, as it is written before the name of a table.
  std::string place() const;
};

/// Throws error{errc::invalid_url}, whose message repeats nothing of the URL but an option's name: the URL may contain
/// a password.
mysql_address read_mysql_url(const core::url& url);

}  // namespace rowlock::inline v1::driver
