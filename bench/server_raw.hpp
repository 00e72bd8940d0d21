#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

enum class raw_release : std::uint8_t { durable, not_waiting_for_the_disk };

/// The two statements that a cycle of `unique_index` cannot do without, written by hand: an upsert that takes a vacant
/// or expired row, and an update that vacates it.
std::unique_ptr<subject> make_raw(const server& at, const std::string& prefix, raw_release how);

/// What the server has of its own: no row, no disk, no expiry, and a connection for every lock.
std::unique_ptr<subject> make_session_locks(const server& at);

}  // namespace bench
