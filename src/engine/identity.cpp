#include "engine/identity.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <random>

#include "base/text.hpp"

namespace rowlock::inline v1::engine {

namespace {

constexpr std::size_t hex_digits = 16;

void write_hex(char* to, std::uint64_t value) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) *to++ = digits[(value >> static_cast<unsigned>(shift)) & 0xFU];
}

std::string random_id() {
  std::random_device device;
  std::string out(hex_digits, '0');
  write_hex(out.data(), (std::uint64_t{device()} << 32U) | device());
  return out;
}

// Databases refuse text that is not UTF-8.
std::string in_utf8(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const auto size = base::first_of(bytes).size;
    out.append(size == 0 ? "?" : bytes.substr(0, size));
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) return "unknown";
  return buffer.data();
}

identity::identity(std::string_view application, std::string_view host)
    : id_{random_id()},
      owner_{std::string{application} + ":" + in_utf8(host) + ":" + std::to_string(getpid()) + ":" + id_} {}

core::acquisition_id identity::next_id() {
  std::array<char, core::acquisition_id::longest> digits{};
  id_.copy(digits.data(), hex_digits);
  write_hex(digits.data() + hex_digits, count_.fetch_add(1, std::memory_order_relaxed));
  return core::acquisition_id{std::string_view{digits.data(), digits.size()}};
}

}  // namespace rowlock::inline v1::engine
