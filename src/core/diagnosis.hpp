#pragma once

#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>

#include <functional>
#include <map>
#include <string>

namespace rowlock::inline v1::core {

/// What a database says of how it is set up, by its own names.
using settings = std::map<std::string, std::string, std::less<>>;

/// `took`: the way there and back.
finding connection_of(const settings& found, duration took);
/// `ahead`: of this host's, by how much the database's clock is.
finding clock_of(duration ahead);
finding log_of(const settings& found);
finding cluster_of(const settings& found);

}  // namespace rowlock::inline v1::core
