#pragma once

#include <memory>
#include <string>

#include "server/private_server.hpp"

namespace rowlock::test {

/// PgBouncer in transaction mode, before a place on a server, for the role of that place. It listens on a socket in its
/// folder only.
class pgbouncer_server : public private_server {
 public:
  explicit pgbouncer_server(const server_database& place);

  /// As that role.
  server_address address() const override;
  /// Another place on that server.
  std::unique_ptr<server_database> open() const override;

 private:
  words command() const override { return {"pgbouncer", "pgbouncer.ini"}; }
  bool answers() const override;

  server_address administrator_;
  server_address role_;
};

}  // namespace rowlock::test
