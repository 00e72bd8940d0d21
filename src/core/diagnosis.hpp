#pragma once

#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/guard_status.hpp>

#include <functional>
#include <map>
#include <string>

namespace rowlock::inline v1::core {

/// The database's settings, by the database's own names.
using settings = std::map<std::string, std::string, std::less<>>;

/// `took`: the time of the round trip.
finding connection_of(const settings& found, duration took);
/// `ahead`: by how much the database's clock is ahead of this host's.
finding clock_of(duration ahead);
finding log_of(const settings& found);
/// `guard`: over failovers.
finding cluster_of(const settings& found, const guard_status& guard = {});

}  // namespace rowlock::inline v1::core
