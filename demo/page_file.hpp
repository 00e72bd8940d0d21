#pragma once

#include <string>
#include <string_view>

namespace flash_sale {

/// Throws std::runtime_error with a sentence where no such file can be made: its folder does not exist, is not
/// writable, or has something of that name which is no file.
void check_page_file(const std::string& file);

/// Writes the file in one step: a reader sees all of it, or what was there before. Throws std::runtime_error.
void replace_page_file(const std::string& file, std::string_view content);

}  // namespace flash_sale
