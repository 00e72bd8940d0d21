#pragma once

#include "server/private_server.hpp"

namespace rowlock::test {

/// PostgreSQL. It listens on a socket in its folder only.
class postgresql_server : public private_server {
 public:
  explicit postgresql_server(const stepped_clock* clock = nullptr);

  server_address address() const override;
  std::unique_ptr<server_database> open() const override;

 private:
  words command() const override;
  bool answers() const override;
};

}  // namespace rowlock::test
