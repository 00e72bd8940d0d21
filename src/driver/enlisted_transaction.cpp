#include "driver/enlisted_transaction.hpp"

#include <charconv>

namespace rowlock::inline v1::driver {

std::optional<std::int64_t> number(const cell& c) {
  const auto* words = std::get_if<std::string>(&c);
  if (words == nullptr) return maybe_integer(c);
  std::int64_t out = 0;
  const auto [end, failure] = std::from_chars(words->data(), words->data() + words->size(), out);
  return failure == std::errc{} ? std::optional{out} : std::nullopt;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(digits[byte >> 4U]);
    out.push_back(digits[byte & 15U]);
  }
  return out;
}

}  // namespace rowlock::inline v1::driver
