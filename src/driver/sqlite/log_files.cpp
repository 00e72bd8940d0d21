#include "driver/sqlite/log_files.hpp"

#include <chrono>
#include <map>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"

namespace rowlock::inline v1::driver {

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

}  // namespace rowlock::inline v1::driver
