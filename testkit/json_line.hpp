#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace rowlock::test {

/// One line without its end. Errors may quote anything: bytes that are not UTF-8 are replaced.
template <class Content>
std::string to_line(const Content& content) {
  return nlohmann::json(content).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Content>
Content from_line(const std::string& line) {
  return nlohmann::json::parse(line).get<Content>();
}

}  // namespace rowlock::test
