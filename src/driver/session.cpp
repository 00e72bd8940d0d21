#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

std::int64_t integer(const cell& c) { return std::get<std::int64_t>(c); }

std::optional<std::int64_t> maybe_integer(const cell& c) {
  const auto* value = std::get_if<std::int64_t>(&c);
  return value ? std::optional{*value} : std::nullopt;
}

std::string text(const cell& c) {
  const auto* value = std::get_if<std::string>(&c);
  return value ? *value : std::string{};
}

}  // namespace rowlock::inline v1::driver
