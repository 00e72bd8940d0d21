#pragma once

#include <cstddef>
#include <random>
#include <string>

namespace bench {

/// A random id of a single attempt, as rowlock draws them.
class acquisition {
 public:
  void draw() {
    constexpr const char* digits = "0123456789abcdef";
    for (std::size_t at = 0; at < text_.size(); at += 16) {
      auto bits = random_();
      for (std::size_t digit = 0; digit < 16; ++digit, bits >>= 4) text_[at + digit] = digits[bits & 15];
    }
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_ = std::string(32, '0');
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace bench
