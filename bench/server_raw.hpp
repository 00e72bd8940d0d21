#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

// For each strategy what its cycle cannot do without, written by hand: prepared, and every commit durable unless it is
// asked otherwise.

enum class raw_release : std::uint8_t { durable, not_waiting_for_the_disk };

/// `unique_index`: an upsert that takes a vacant or expired row, and an update that vacates it.
std::unique_ptr<subject> make_raw(const server& at, const std::string& prefix, raw_release how);

/// `for_update`: a transaction that locks a row, raises its version and commits.
std::unique_ptr<subject> make_raw_transactions(const server& at, const std::string& prefix);

/// `version_cas`: a read of the version, an update of the row that has it still, and an update that vacates it.
std::unique_ptr<subject> make_raw_compare_and_set(const server& at, const std::string& prefix, raw_release how);

}  // namespace bench
