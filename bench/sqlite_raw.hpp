#pragma once

#include <filesystem>
#include <memory>

#include "subject.hpp"

namespace bench {

/// The two statements that a cycle of `unique_index` cannot do without, written by hand for the C interface: an upsert
/// that takes a vacant or expired row, and an update that vacates it.
std::unique_ptr<subject> make_sqlite_raw(const std::filesystem::path& folder);

/// The same for `version_cas`: a read of the version, an update of the row that has it still, and an update that
/// vacates it.
std::unique_ptr<subject> make_sqlite_raw_compare_and_set(const std::filesystem::path& folder);

}  // namespace bench
