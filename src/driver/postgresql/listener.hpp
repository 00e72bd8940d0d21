#pragma once

#include <string>
#include <vector>

#include "base/alarm.hpp"
#include "driver/backend.hpp"
#include "driver/net/guarded_connection.hpp"
#include "driver/postgresql/address.hpp"
#include "driver/postgresql/libpqxx.hpp"

namespace rowlock::inline v1::driver {

/// A connection that LISTENs on the channel of one client. It uses libpq alone: libpqxx waits in its own way.
class postgresql_listener final : public listener {
 public:
  /// `channel` is an identifier that needs no quotes.
  postgresql_listener(const postgresql_address& to, const std::string& channel, duration call_timeout,
                      call_watchdog& watchdog, const limits& until);

  std::vector<std::string> wait(base::instant until, const std::stop_token& stop) override;

 private:
  std::vector<std::string> heard();
  void execute(const std::string& sql, const char* doing, const limits& until);

  const duration call_timeout_;
  base::alarm alarm_;
  postgresql_handle connection_;
  guarded_connection guarded_;
};

}  // namespace rowlock::inline v1::driver
