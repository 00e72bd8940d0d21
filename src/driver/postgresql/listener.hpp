#pragma once

#include <string>
#include <vector>

#include "driver/backend.hpp"
#include "driver/net/guarded_connection.hpp"
#include "driver/postgresql/address.hpp"
#include "driver/postgresql/libpqxx.hpp"

namespace rowlock::inline v1::driver {

/// A connection that LISTENs on the channel of one client. It uses libpq alone: libpqxx waits in its own way.
class postgresql_listener final : public listener {
 public:
  /// `channel` is an identifier that needs no quotes.
  postgresql_listener(const postgresql_address& to, const std::string& channel, call_watchdog& watchdog,
                      const limits& until);

  int descriptor() const noexcept override { return guarded_.descriptor(); }
  std::vector<std::string> heard() override;
  void probe(const limits& until) override { execute("SELECT 1", "looking whether the server is there", until); }

 private:
  void execute(const std::string& sql, const char* doing, const limits& until);

  postgresql_handle connection_;
  guarded_connection guarded_;
};

}  // namespace rowlock::inline v1::driver
