#pragma once

#include <cstdint>
#include <memory>

#include "server/private_server.hpp"

namespace rowlock::test {

/// Redis that writes nothing to the disk.
class redis_server : public private_server {
 public:
  explicit redis_server(const fake_machine* machine = nullptr);

  server_address address() const override;
  /// It has no such places: throws std::logic_error.
  std::unique_ptr<server_database> open() const override;

  /// Asynchronously.
  void follow(const redis_server& primary) const;
  void stop_receiving() const;
  void promote() const;
  bool has_all_of_its_primary() const;

 private:
  words command() const override;
  bool answers() const override;

  std::uint16_t port_;
};

}  // namespace rowlock::test
