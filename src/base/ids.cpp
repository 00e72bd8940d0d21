#include "base/ids.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <random>

namespace rowlock::inline v1::base {

namespace {

constexpr std::size_t hex_digits = 16;

void write_hex(char* to, std::uint64_t value) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) *to++ = digits[(value >> static_cast<unsigned>(shift)) & 0xFU];
}

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) return "unknown";
  return buffer.data();
}

}  // namespace

std::string random_id() {
  std::random_device device;
  std::string out(hex_digits, '0');
  write_hex(out.data(), (std::uint64_t{device()} << 32U) | device());
  return out;
}

std::string owner_id(std::string_view application, std::string_view id) {
  std::string out{application};
  return out.append(":").append(host_name()).append(":").append(std::to_string(getpid())).append(":").append(id);
}

attempt_ids::digits attempt_ids::next() noexcept {
  digits out{};
  client_.copy(out.data(), hex_digits);
  write_hex(out.data() + hex_digits, count_.fetch_add(1, std::memory_order_relaxed));
  return out;
}

}  // namespace rowlock::inline v1::base
