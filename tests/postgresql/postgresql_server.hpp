#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/private_server.hpp"
#include "support/pq_connection.hpp"

namespace rowlock::test {

/// PostgreSQL. It listens on a socket in its folder only.
class postgresql_server : public private_server {
 public:
  explicit postgresql_server(const fake_machine* machine = nullptr);
  /// A standby of that one.
  explicit postgresql_server(const postgresql_server& primary);

  server_address address() const override;
  std::unique_ptr<server_database> open() const override;

  /// Its first process is killed; when this returns, the others have noticed that, and have ended.
  void kill_first_process();
  /// The process of a session is killed; when this returns, the server has ended all others, and has started again.
  void kill_session() const;
  /// Commits that do not wait for the disk are in memory for long, unless one that waits comes after them, or many do.
  void write_late() const;

  /// Whether notifications fill the queue of the server there soon: of such a one since PostgreSQL 17.
  static bool has_small_queue(server_database& place);
  /// Its commits wait for a standby, also while there is none.
  void wait_for_standby(bool on) const;
  bool has_standby() const;
  void stop_receiving() const;
  /// By that function; how many.
  std::int64_t end_waits_for_standby(const std::string& function) const;
  /// The standby is a primary when this returns.
  void promote() const;
  /// After a crash: it begins anew, as a standby of that one.
  void follow(const postgresql_server& primary);

 private:
  void configure() const;
  pq_connection connect() const { return pq_connection{address().url()}; }
  words command() const override;
  bool answers() const override;
};

/// A primary and a standby, of which either may be either.
class postgresql_pair {
 public:
  explicit postgresql_pair(bool waits = false);

  postgresql_server& primary() const { return *all_.at(primary_); }
  postgresql_server& standby() const { return *all_.at(1 - primary_); }
  /// Both, of which clients choose the primary.
  server_address address() const;
  std::unique_ptr<server_database> open() const;

  bool has_standby() const { return primary().has_standby(); }
  /// What is committed from now on is lost by the next failover.
  void cut_off_standby() const { standby().stop_receiving(); }
  /// After a crash of the primary.
  void promote_standby();
  void fail_over() {
    primary().crash();
    promote_standby();
  }
  /// Who has crashed comes back as a standby.
  void rejoin() const { standby().follow(primary()); }

 private:
  std::array<std::unique_ptr<postgresql_server>, 2> all_;
  std::size_t primary_ = 0;
};

}  // namespace rowlock::test
