#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/identity.hpp"

namespace rowlock::inline v1::engine {

/// The name of this host, according to the operating system: any bytes.
std::string host_name();

/// The names by which the database and other clients know this client, and the ids of all its requests. They begin with
/// 16 hexadecimal digits from the operating system's randomness, so that parent and child of a fork differ.
class identity {
 public:
  /// In `host`, bytes that are not UTF-8 become "?".
  explicit identity(std::string_view application, std::string_view host = host_name());

  /// application:host:pid:id, at most 255 bytes.
  const std::string& owner() const noexcept { return owner_; }
  /// Unique, and cheap enough to make one for every attempt.
  core::acquisition_id next_id();
  bool made(std::string_view id) const noexcept { return id.starts_with(id_); }

 private:
  const std::string id_;
  const std::string owner_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace rowlock::inline v1::engine
