#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::inline v1::driver {

/// Files whose locks, which the operating system keeps, show which clients are alive. One object for each client; any
/// thread may use it.
///
///   a client's file: locked before it gets its name --client or process ends--> free for good: no name is used again
///   in a child of a fork: inert: own() throws used_after_fork, remove() and the destructor do nothing
class liveness_files {
 public:
  /// `folder` is made with the first file. `prefix` begins the names of the files.
  liveness_files(std::filesystem::path folder, std::string prefix);
  liveness_files(const liveness_files&) = delete;
  liveness_files& operator=(const liveness_files&) = delete;
  /// The file is not removed: rows may name it.
  ~liveness_files();

  /// The name of this client's file, without the folder; the file exists and is locked, even if it had been removed.
  /// Throws permission_denied, database_error, used_after_fork.
  std::string own();
  /// Whether the client that made this file is alive. A client that cannot be tested counts as alive, also if its file
  /// is missing: the opposite mistake, to take a living holder for dead, would be worse.
  bool is_alive(std::string_view name) const noexcept;
  /// The files with this prefix whose clients are dead. Deletes the files of clients that died while they made them.
  std::vector<std::string> dead() const;
  /// This client counts as dead from now on; other clients can delete what it left.
  void abandon() noexcept;
  /// Deletes a file that no row names any more, and the folder if it is empty. If this client's own file was deleted,
  /// own() makes one with another name.
  void remove(const std::string& name) noexcept;

 private:
  static void in_child() noexcept;
  void close_own() noexcept;

  const std::filesystem::path folder_;
  const std::string prefix_;
  std::string name_;     // empty until the first file, and after its removal
  int descriptor_ = -1;  // of the locked file
  bool is_foreign_ = false;
  liveness_files* next_ = nullptr;

  static const int registered;
};

}  // namespace rowlock::inline v1::driver
