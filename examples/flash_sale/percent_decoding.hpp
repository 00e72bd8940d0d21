#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flash_sale {

/// nullopt where a '%' is not followed by two hex digits, or by 00.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace flash_sale
