#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/backend.hpp"
#include "driver/mysql/session.hpp"

namespace rowlock::inline v1::driver {

/// The user-level lock of the listener of the client with this owner. nullopt: no client has such an owner, so this
/// text must not become part of a statement.
std::optional<std::string> wake_up_lock(std::string_view owner);

/// A connection that holds the user-level lock of one client, by which other clients find it. It sleeps in a statement,
/// which they end by KILL QUERY.
///
/// On MySQL it sleeps by SLEEP. On MariaDB, a KILL of a SLEEP that is just beginning or ending may stop every SLEEP on
/// the server for two seconds (the two threads wait for each other's mutex), so there it waits for a user-level lock
/// that another connection holds.
class mysql_listener final : public listener {
 public:
  using connect_another = std::function<std::unique_ptr<mysql_session>()>;
  mysql_listener(const connect_another& connect, const std::string& owner, duration call_timeout, const limits& until);

  std::vector<std::string> wait(base::instant until, const std::stop_token& stop) override;

 private:
  bool sleep(duration longest, const limits& until);
  std::string sleep_of(duration longest) const;

  const duration call_timeout_;  // on top of the sleep
  std::unique_ptr<mysql_session> session_;
  std::unique_ptr<mysql_session> awaited_{};  // on MariaDB
};

}  // namespace rowlock::inline v1::driver
