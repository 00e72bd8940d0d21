#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "driver/sqlite/file_faults.hpp"

namespace rowlock::inline v1::driver {

/// The files of an SQLite database beside the database itself: the write-ahead log and its index. While any connection
/// has them open, SQLite does not remove them; where somebody else did, the connections that have them and those that
/// come later do not see each other's commits. All connections of a process share the index, also those that are opened
/// after it was removed, so all sessions of a process have one of these for a database.
class log_files {
 public:
  /// Those of the database that has this identity and, for SQLite, this name. For a session that has read from it, so
  /// that they are there.
  static std::shared_ptr<log_files> of(const file_identity& database, const std::string& name);
  /// nullptr: no session is open.
  static std::shared_ptr<log_files> known(const file_identity& database);

  explicit log_files(const std::string& name);

  /// One that is not there any more, or is another file now; nullopt: none, at most a millisecond ago.
  std::optional<std::string> removed();

 private:
  struct one {
    std::string path{};
    std::optional<file_identity> opened{};  // nullopt: it was never seen, as in another journal mode
  };
  std::mutex mutex_;
  std::array<one, 2> all_;
  base::instant seen_{};  // when all were last found there
};

}  // namespace rowlock::inline v1::driver
