#pragma once

#include <string>
#include <vector>

#include "driver/backend.hpp"
#include "driver/libpqxx.hpp"
#include "driver/postgresql_address.hpp"
#include "driver/server_line.hpp"

namespace rowlock::inline v1::driver {

/// A connection that LISTENs on the channel of one client. It is spoken to through libpq: libpqxx waits in its own way.
class postgresql_listener final : public listener {
 public:
  /// `channel` is an identifier that needs no quotes.
  postgresql_listener(const postgresql_address& to, const std::string& channel, line_cutter& cutter,
                      const limits& until);

  int descriptor() const noexcept override { return line_.descriptor(); }
  std::vector<std::string> heard() override;
  void probe(const limits& until) override { execute("SELECT 1", "looking whether the server is there", until); }

 private:
  void execute(const std::string& sql, const char* doing, const limits& until);

  postgresql_handle connection_;
  server_line line_;
};

}  // namespace rowlock::inline v1::driver
