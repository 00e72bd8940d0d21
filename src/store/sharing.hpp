#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_info.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/leases.hpp"

/// What holders that share a name have in its stead: a row each in a table of their own, beside the row of the name,
/// which has their number. They are renewed and released like leases.
namespace rowlock::inline v1::store {

/// Whose lease is converted, and by what it is known.
struct conversion {
  lease_ref lease;
  std::string_view owner;
  std::string_view thread;
  std::string_view note;
  std::string_view attempt{};  ///< of a downgrade: any that was never used
  std::int64_t permits = 1;    ///< as it shares the name
};
struct converted {
  fencing_token token{};
  duration left{};
};
/// From a share to having the name alone. nullopt: others share it, or it is not ours any more.
std::optional<converted> upgrade_share(const access& db, const conversion& what);
/// From having the name alone to a share. nullopt: it is not ours any more.
std::optional<converted> downgrade(const access& db, const conversion& what);

/// Takes off what holders of these names have whose leases have ended, of a thousand at most. true: there were some.
bool reap_shares(const access& db, std::span<const std::string_view> names);

/// Whoever shares the name, in the order of the tokens.
struct sharer {
  lock_info info;
  std::string acquisition;
};
std::vector<sharer> sharers(const access& db, std::string_view name);
/// When the next of them ends, or the row's lease, which has `left`.
std::optional<duration> left_of_shares(const access& db, std::string_view name, std::optional<duration> left);
/// nullopt: not among them.
std::optional<sharer> find_share(const access& db, std::string_view name, std::string_view acquisition);
/// Whether that acquisition shares the name. If there is not even a row of the name, another connection is asked, too.
bool has_share(const access& db, std::string_view name, std::string_view acquisition);

/// Names after that one with rows of dead holders, at most so many.
std::vector<std::string> find_dead_shares(const access& db, std::string_view after, std::size_t number);
/// Deletes what is left of dead holders.
void purge_shares(const access& db, std::string_view name);

}  // namespace rowlock::inline v1::store
