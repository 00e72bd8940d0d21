#pragma once

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>
#include <rowlock/held_lock.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "driver/backend.hpp"
#include "engine/client_core.hpp"

namespace rowlock::inline v1::detail {

/// Passes a stop on.
struct relay {
  std::stop_source to;
  void operator()() const { to.request_stop(); }
};
using relayed = std::stop_callback<relay>;

/// The contents of a handle; throws errc::not_held if it is empty. `kind`: of handle.
template <class Pointer>
auto& not_empty(const Pointer& inside, const char* kind) {
  if (!inside)
    throw error{errc::not_held,
                std::string{"this "} + kind + " is empty, because it was released, moved from, or never held a lock"};
  return *inside;
}

/// For a lock that each holder must show in the database: it is not handed over inside the client, where other clients
/// would not see it.
inline lock_options seen_by_all(lock_options options) {
  options.at_least = std::max(options.at_least, duration{1});
  return options;
}

/// The result of a wait without a time limit, if only a stop can have ended that. `what_for` and `name` are for people.
template <class Held>
Held granted(std::optional<Held> held, const char* what_for, const lock_name* name = nullptr) {
  if (!held)
    throw error{errc::cancelled, std::string{"stopped while waiting "} + what_for +
                                     (name == nullptr ? std::string{} : base::quoted(name->view()))};
  return std::move(*held);
}

/// The engine behind the public objects. Throws for an empty object.
struct inside {
  static client connect(const driver::backend& kind, std::string_view url, client_options options) {
    return client{engine::client_core::open(kind, url, std::move(options))};
  }
  /// A copy: it lives until the call ends, even if the client is destroyed meanwhile.
  static std::shared_ptr<engine::client_core> of(client& c) { return of(std::as_const(c)); }
  /// The same for calls that only read.
  static std::shared_ptr<engine::client_core> of(const client& c) {
    if (!c.impl_) throw error{errc::client_closed, "this rowlock client was moved from; use the one it was moved to"};
    return c.impl_;
  }
  static engine::client_core& client_of(const held_lock& held) { return not_empty(held.client_, "held_lock"); }
  static const engine::lease_ptr& lease_of(const held_lock& held) {
    not_empty(held.lease_, "held_lock");
    return held.lease_;
  }
  /// The lock of a handle, which is then empty.
  static engine::lease_ptr take(held_lock& from) {
    from.client_ = nullptr;
    return std::exchange(from.lease_, nullptr);
  }
  static std::vector<held_lock> take(held_set& from);
  static const std::shared_ptr<engine::client_core>& core_of(const held_lock& held) { return held.client_; }
  static std::optional<held_lock> held(const std::shared_ptr<engine::client_core>& by, engine::lease_ptr lease) {
    if (!lease) return std::nullopt;
    return held_lock{by, std::move(lease)};
  }
  static std::optional<held_set> held(const std::shared_ptr<engine::client_core>& by,
                                      std::vector<engine::lease_ptr> leases) {
    if (leases.empty()) return std::nullopt;
    std::vector<held_lock> out;
    for (auto& each : leases) out.push_back(held_lock{by, std::move(each)});
    return held_set{std::move(out)};
  }
};

}  // namespace rowlock::inline v1::detail
