#pragma once

#include <optional>
#include <string_view>

#include "core/lock_owner.hpp"
#include "store/access.hpp"

namespace rowlock::inline v1::store {

/// nullopt: nobody has the name.
std::optional<core::lock_owner> find_lock_owner(const access& db, std::string_view name);

/// Vacates the row if it still has that version and an owner. false: it has not, or somebody has it locked.
bool free(const access& db, std::string_view name, fencing_token version);

}  // namespace rowlock::inline v1::store
