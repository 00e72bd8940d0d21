#pragma once

#include <iterator>
#include <string>
#include <utility>

#include "mysql/mariadb_server.hpp"

namespace rowlock::test {

/// MariaDB that offers TLS, with a certificate for db.example by an authority of its own.
class mariadb_with_tls : public mariadb_server {
 public:
  explicit mariadb_with_tls(words options = {}) : mariadb_server{words{}} {
    stop();
    make_certificate();
    options.insert(options.end(), {"--ssl-cert=" + file("certificate.pem"), "--ssl-key=" + file("key.pem")});
    set_options(std::move(options));
    start();
  }

  /// The certificate that its own is signed by.
  std::string authority() const { return file("authority.pem"); }
  /// That of another authority.
  std::string stranger() const { return file("stranger.pem"); }

 private:
  std::string file(const char* name) const { return (folder() / name).string(); }
};

}  // namespace rowlock::test
