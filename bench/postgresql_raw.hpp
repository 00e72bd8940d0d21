#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "subject.hpp"

namespace bench {

enum class raw_release : std::uint8_t { durable, not_waiting_for_the_disk };

/// The two statements that a cycle of `unique_index` cannot do without, written by hand for libpqxx: an upsert that
/// takes a vacant or expired row, and an update that vacates it.
std::unique_ptr<subject> make_postgresql_raw(const std::string& url, const std::string& prefix, raw_release how);

/// pg_advisory_lock and pg_advisory_unlock: no row, no disk, no expiry, and a connection for every lock.
std::unique_ptr<subject> make_postgresql_advisory(const std::string& url);

}  // namespace bench
