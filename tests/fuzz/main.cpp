#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {  // NOLINT: its name is given
  rowlock::fuzz::input from{bytes, size};
  rowlock::fuzz::feed(from);
  return 0;
}
