#pragma once

#include <cstdint>
#include <string>

#include "server/private_server.hpp"

namespace rowlock::test {

/// MariaDB, with options such as "--log-bin". It listens on a loopback port.
class mariadb_server : public private_server {
 public:
  explicit mariadb_server(words options);
  explicit mariadb_server(const stepped_clock* clock, words options = {});

  server_address address() const override;
  std::unique_ptr<server_database> open() const override;

 private:
  words command() const override;
  bool answers() const override;

  words options_;
  std::string password_;
  std::uint16_t port_;
};

}  // namespace rowlock::test
