#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "server/private_server.hpp"

namespace rowlock::test {

/// MariaDB, with options such as "--log-bin". It listens on a loopback port.
class mariadb_server : public private_server {
 public:
  explicit mariadb_server(words options);
  explicit mariadb_server(const fake_machine* machine, words options = {});

  /// A copy of one that has ended; it is not started.
  struct copy_of {
    const mariadb_server& original;
  };
  explicit mariadb_server(copy_of of);

  server_address address() const override;
  std::unique_ptr<server_database> open() const override;

 protected:
  /// From the next start on.
  void set_options(words options) { options_ = std::move(options); }
  words command() const override;

 private:
  bool answers() const override;

  words options_;
  std::string password_;
  std::uint16_t port_;
};

}  // namespace rowlock::test
