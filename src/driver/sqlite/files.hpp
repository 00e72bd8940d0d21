#pragma once

#include <sys/types.h>

#include <array>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "core/url.hpp"

namespace rowlock::inline v1::driver {

/// The path of the file that a URL names: sqlite:relative, sqlite:/absolute or sqlite:///absolute. Throws
/// error{errc::invalid_url}.
std::string read_sqlite_url(const core::url& url);

struct file_fault {
  std::string sentence{};  ///< the reason, and the remedy
  bool is_about_permission = false;
};

/// Why SQLite cannot open or write this file, according to the file system; nullopt if the file system shows no fault.
/// SQLite's own error is not always enough: for a file that it may not create it says that there is none.
std::optional<file_fault> fault_of(const std::filesystem::path& file);

/// Which file has this name now.
struct file_identity {
  dev_t device = 0;
  ino_t number = 0;

  bool operator==(const file_identity&) const = default;
};
std::optional<file_identity> identity_of(const std::string& file) noexcept;

/// The sentence for a file that is not the one that was opened, which other clients cannot find any more.
std::string was_replaced(const std::string& file);

/// The files of an SQLite database beside the database itself: the write-ahead log and its index. While any connection
/// has them open, SQLite does not remove them. If another program removes them, the connections that have them open and
/// later connections do not see each other's commits. All connections of a process share the index, even those that are
/// opened after its removal, so all sessions of a process share one such object for a database.
class log_files {
 public:
  /// The files of the database that has this identity and, for SQLite, this name. For a session that has read from it,
  /// so that the files exist.
  static std::shared_ptr<log_files> of(const file_identity& database, const std::string& name);
  /// nullptr: no session is open.
  static std::shared_ptr<log_files> known(const file_identity& database);

  explicit log_files(const std::string& name);

  /// A file that was removed or replaced; nullopt: none, at most a millisecond ago.
  std::optional<std::string> removed();
  /// Whether others have made new ones since.
  bool are_others() const noexcept;

 private:
  struct one {
    std::string path{};
    std::optional<file_identity> opened{};  // nullopt: it was never seen, as in another journal mode
  };
  mutable std::mutex mutex_;
  std::array<one, 2> all_;
  base::instant seen_{};  // when all files were last found there
};

}  // namespace rowlock::inline v1::driver
