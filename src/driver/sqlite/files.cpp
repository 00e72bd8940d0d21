#include "driver/sqlite/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/text.hpp"

namespace rowlock::inline v1::driver {

namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_url, sentence}; }

}  // namespace

std::string read_sqlite_url(const core::url& url) {
  std::string_view body = url.body;
  if (!url.options.empty())
    refuse("a sqlite: URL takes no options" + core::first_option(url) +
           "; leave out the '?' and the text after it, or write %3F for a '?' in the path");
  if (body.starts_with("//")) {
    body.remove_prefix(2);
    if (!body.starts_with('/')) refuse("a sqlite: URL has no host; write sqlite:path or sqlite:///absolute/path");
  }
  const auto path = base::percent_decoded(body);
  if (!path || !base::is_plain_text(*path))
    refuse(
        "the path of this sqlite: URL has a % without two hexadecimal digits, or is not UTF-8 without NUL; write a '%' "
        "as "
        "%25");
  if (path->empty()) refuse("this sqlite: URL has no path; write the path of a file, as in sqlite:locks.db");
  return *path;
}

namespace {

namespace fs = std::filesystem;

// 0, or the errno that says why not.
int denied(const fs::path& what, int mode) noexcept {
  return faccessat(AT_FDCWD, what.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
}

std::string this_process() { return "this process (uid " + std::to_string(geteuid()) + ")"; }

file_fault elsewhere(std::string sentence) { return {.sentence = std::move(sentence)}; }
file_fault denied_by(std::string sentence) { return {.sentence = std::move(sentence), .is_about_permission = true}; }

// The uppermost folder of the path that does not exist, is not a folder, or cannot be entered.
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
         " was deleted, moved or replaced while it was open, so other clients do not see the locks in it; connect "
         "again";
}

namespace {

using every_one = std::map<std::pair<dev_t, ino_t>, std::weak_ptr<log_files>>;

base::guarded<every_one>& all_of_process() {
  static auto* const all = new base::guarded<every_one>;  // for clients that are closed after static objects
  return *all;
}

std::pair<dev_t, ino_t> key_of(const file_identity& database) { return {database.device, database.number}; }

}  // namespace

std::shared_ptr<log_files> log_files::of(const file_identity& database, const std::string& name) {
  const auto all = all_of_process().lock();
  std::erase_if(*all, [](const auto& each) { return each.second.expired(); });
  auto& found = (*all)[key_of(database)];
  auto out = found.lock();
  if (!out) found = out = std::make_shared<log_files>(name);
  return out;
}

std::shared_ptr<log_files> log_files::known(const file_identity& database) {
  const auto all = all_of_process().lock();
  const auto found = all->find(key_of(database));
  return found != all->end() ? found->second.lock() : nullptr;
}

log_files::log_files(const std::string& name)
    : all_{{{.path = name + "-wal", .opened = identity_of(name + "-wal")},
            {.path = name + "-shm", .opened = identity_of(name + "-shm")}}} {}

std::optional<std::string> log_files::removed() {
  constexpr duration seldom = std::chrono::milliseconds{1};
  const std::lock_guard lock{mutex_};
  const auto at = base::now();
  if (at - seen_ < seldom) return std::nullopt;
  for (auto& each : all_) {
    const auto now = identity_of(each.path);
    if (!each.opened) each.opened = now;
    if (each.opened != now) return each.path;
  }
  seen_ = at;
  return std::nullopt;
}

bool log_files::are_others() const noexcept {
  const std::lock_guard lock{mutex_};
  return std::any_of(all_.begin(), all_.end(), [](const auto& each) {
    const auto now = identity_of(each.path);
    return now && each.opened && now != each.opened;
  });
}

}  // namespace rowlock::inline v1::driver
