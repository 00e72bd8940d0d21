#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace rowlock::fuzz {

/// By another's judgement.
inline bool is_utf8(const std::string& text) try {
  static_cast<void>(nlohmann::json(text).dump());
  return true;
} catch (const nlohmann::json::type_error&) {
  return false;
}

inline bool is_plain(const std::string& text) { return is_utf8(text) && text.find('\0') == std::string::npos; }

/// Has no byte that a terminal obeys, but for the ends of lines.
inline bool is_tame(const std::string& text) {
  return is_utf8(text) &&
         std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; }) &&
         text.find("\xC2\x9B") == std::string::npos && text.find("\u202e") == std::string::npos;
}

}  // namespace rowlock::fuzz
