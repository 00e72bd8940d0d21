#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/ids.hpp"
#include "core/identity.hpp"

namespace rowlock::inline v1::engine {

/// How the database and other clients know this client, and the ids of all that it asks for.
class identity {
 public:
  explicit identity(std::string_view application)
      : id_{base::random_id()}, owner_{base::owner_id(application, base::host_name(), id_)}, ids_{id_} {}

  /// application:host:pid:id
  const std::string& owner() const noexcept { return owner_; }
  core::acquisition_id next_id() {
    const auto id = ids_.next();
    return core::acquisition_id{std::string_view{id.data(), id.size()}};
  }
  bool made(std::string_view id) const noexcept { return ids_.made(id); }

 private:
  const std::string id_;
  const std::string owner_;
  base::attempt_ids ids_;
};

}  // namespace rowlock::inline v1::engine
