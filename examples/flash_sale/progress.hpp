#pragma once

#include <cstddef>
#include <string>

#include "shop.hpp"

namespace flash_sale {

/// A line on a terminal that says how far a run is, and is gone with this object. Elsewhere nothing.
class progress_line {
 public:
  progress_line(std::string run, std::size_t units);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

  void show(shop& of) const;

 private:
  std::string run_;
  std::size_t units_;
  bool on_terminal_;
};

}  // namespace flash_sale
