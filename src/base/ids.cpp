#include "base/ids.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <random>

namespace rowlock::inline v1::base {

namespace {

void append_hex(std::string& to, std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) to.push_back(digits[(value >> static_cast<unsigned>(shift)) & 0xFU]);
}

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) return "unknown";
  return buffer.data();
}

}  // namespace

std::string random_id() {
  std::random_device device;
  std::string out;
  append_hex(out, (std::uint64_t{device()} << 32U) | device());
  return out;
}

std::string owner_id(std::string_view application, std::string_view id) {
  std::string out{application};
  return out.append(":").append(host_name()).append(":").append(std::to_string(getpid())).append(":").append(id);
}

std::string attempt_ids::next() {
  std::string out;
  out.reserve(32);
  out.append(client_);
  append_hex(out, count_.fetch_add(1, std::memory_order_relaxed));
  return out;
}

}  // namespace rowlock::inline v1::base
