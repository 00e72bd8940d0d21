#pragma once

#include <memory>
#include <string>

#include "way.hpp"

namespace flash_sale {

// Each purchase is one transaction of the shop's own connection, in the database that has the locks, too.

/// It begins with rowlock::lock_in.
std::unique_ptr<way> buying_with_lock_in(const std::string& locks_url);

/// rowlock::optimistically runs it, again and again if need be.
std::unique_ptr<way> buying_optimistically(const std::string& locks_url);

}  // namespace flash_sale
