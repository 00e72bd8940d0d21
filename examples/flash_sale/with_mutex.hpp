#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "way.hpp"

namespace flash_sale {

/// Each purchase, whose statements are committed one by one, under a mutex.
std::unique_ptr<way> buying_with_mutex(const std::string& locks_url, rowlock::strategy strategy);

enum class letting_go : std::uint8_t { before_commit, after_commit };

/// The same with a transaction around what is written. Letting go before the commit is the classic mistake: whoever has
/// the lock then reads what was there before.
std::unique_ptr<way> writing_with_mutex(const std::string& locks_url, letting_go when);

}  // namespace flash_sale
