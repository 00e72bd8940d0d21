#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace rowlock::inline v1::driver {

struct file_fault {
  std::string sentence{};  ///< why, and what to do about it
  bool is_about_permission = false;
};

/// Why SQLite cannot open or write this file, as the file system tells; nullopt if it tells nothing. SQLite's own error
/// does not always tell: of a file that it may not create it says that there is none.
std::optional<file_fault> fault_of(const std::filesystem::path& file);

/// Which file has this name now.
struct file_identity {
  dev_t device = 0;
  ino_t number = 0;

  bool operator==(const file_identity&) const = default;
};
std::optional<file_identity> identity_of(const std::string& file) noexcept;

/// That the file is not the one that was opened, which other clients do not find any more.
std::string was_replaced(const std::string& file);

}  // namespace rowlock::inline v1::driver
