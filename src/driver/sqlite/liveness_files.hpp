#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::inline v1::driver {

/// Files whose locks, which the operating system keeps, tell which clients live. One object for each client; any
/// thread.
///
///   a client's file: locked before it gets its name --client or process ends--> free for good: no name is used again
///   in a child of a fork: inert: own() throws used_after_fork, remove() and the destructor do nothing
class liveness_files {
 public:
  /// `folder` is made when the first file is. `prefix` begins the names of the files.
  liveness_files(std::filesystem::path folder, std::string prefix);
  liveness_files(const liveness_files&) = delete;
  liveness_files& operator=(const liveness_files&) = delete;
  /// The file stays: rows may name it.
  ~liveness_files();

  /// The name of this client's file, without the folder; the file is there and locked, even if somebody had removed it.
  /// Throws permission_denied, database_error, used_after_fork.
  std::string own();
  /// Whether the client that made this file lives. A client that cannot be tested counts as alive, also if its file is
  /// missing: to take a living holder for dead would be the worse mistake.
  bool is_alive(std::string_view name) const noexcept;
  /// The files with this prefix whose clients are dead. Deletes the files of clients that died while they made them.
  std::vector<std::string> dead() const;
  /// This client counts as dead from now on; other clients can delete what it left.
  void abandon() noexcept;
  /// Deletes a file that no row names any more, and the folder if it is empty. After this client's own file was
  /// deleted, own() makes one with another name.
  void remove(const std::string& name) noexcept;

 private:
  static void in_child() noexcept;
  void close_own() noexcept;

  const std::filesystem::path folder_;
  const std::string prefix_;
  std::string name_;     // empty until the first file, and after its removal
  int descriptor_ = -1;  // of the file that is locked
  bool is_foreign_ = false;
  liveness_files* next_ = nullptr;

  static const int registered;
};

}  // namespace rowlock::inline v1::driver
