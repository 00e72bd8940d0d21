#include "driver/sqlite/file_faults.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace rowlock::inline v1::driver {

namespace {

namespace fs = std::filesystem;

// 0, or the errno that says why not.
int denied(const fs::path& what, int mode) noexcept {
  return faccessat(AT_FDCWD, what.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
}

std::string this_process() { return "this process (uid " + std::to_string(geteuid()) + ")"; }

file_fault elsewhere(std::string sentence) { return {.sentence = std::move(sentence)}; }
file_fault denied_by(std::string sentence) { return {.sentence = std::move(sentence), .is_about_permission = true}; }

// The uppermost folder of the path that is missing, is none, or cannot be entered.
std::optional<file_fault> fault_of_folders(const fs::path& file) {
  const auto folder = file.parent_path();
  fs::path so_far;
  for (const auto& part : folder) {
    so_far /= part;
    std::error_code failure;
    const auto found = fs::status(so_far, failure);
    if (found.type() == fs::file_type::not_found)
      return elsewhere("the folder " + folder.string() + " of the SQLite file " + file.string() +
                       " does not exist; create it, or correct the path");
    if (fs::exists(found) && !fs::is_directory(found))
      return elsewhere(so_far.string() + " is not a folder, so there is no SQLite file " + file.string() +
                       "; correct the path");
    if (denied(so_far, X_OK) != 0)
      return denied_by(this_process() + " may not enter the folder " + so_far.string() + " of the SQLite file " +
                       file.string() + "; give it the permissions r, w and x on the folder");
  }
  return std::nullopt;
}

file_fault cannot_write(const fs::path& what, int failure, const std::string& why) {
  if (failure == EROFS)
    return denied_by("the file system of " + what.string() +
                     " is read-only, and SQLite must write to it; name a file elsewhere");
  return denied_by(why);
}

std::optional<file_fault> fault_of_contents(const fs::path& file) {
  if (denied(file, R_OK) != 0)
    return denied_by(this_process() + " may not read the SQLite file " + file.string() +
                     "; give it the permissions r and w on the file");
  if (const int failure = denied(file, W_OK); failure != 0)
    return cannot_write(file, failure,
                        "the SQLite file " + file.string() + " is read-only for " + this_process() +
                            "; give it the permission w on the file");
  return std::nullopt;
}

}  // namespace

std::optional<file_fault> fault_of(const fs::path& file) {
  if (auto out = fault_of_folders(file)) return out;
  std::error_code failure;
  const auto found = fs::status(file, failure);
  if (fs::is_directory(found))
    return elsewhere(file.string() + " is a folder, not an SQLite file; name a file in it, as in sqlite:" +
                     (file / "locks.db").string());
  if (fs::exists(found)) {
    if (!fs::is_regular_file(found)) return elsewhere(file.string() + " is not a regular file; name an SQLite file");
    if (auto out = fault_of_contents(file)) return out;
  }
  const auto folder = file.has_parent_path() ? file.parent_path() : fs::path{"."};
  const int in_folder = denied(folder, W_OK);
  if (in_folder == 0) return std::nullopt;
  return cannot_write(folder, in_folder,
                      this_process() + " may not write to the folder " + folder.string() +
                          ", where SQLite must create " + file.string() +
                          " and its journal; give it the permission w on the folder");
}

std::optional<file_identity> identity_of(const std::string& file) noexcept {
  struct stat found = {};
  if (stat(file.c_str(), &found) != 0) return std::nullopt;
  return file_identity{.device = found.st_dev, .number = found.st_ino};
}

std::string was_replaced(const std::string& file) {
  return "the SQLite file " + file +
         " was deleted, moved or replaced while it was open, so other clients do not see what is locked in it; connect "
         "again";
}

}  // namespace rowlock::inline v1::driver
