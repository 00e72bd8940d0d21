#pragma once

#include <csignal>

#include "file_descriptor.hpp"

namespace flash_sale {

/// The user wants it to end: thrown so that everything is cleared away first.
struct interrupted {
  int signal = 0;
};

/// While this object lives, SIGINT, SIGTERM and SIGHUP wait in a descriptor. Construct it before any thread starts.
class interrupts {
 public:
  interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  ~interrupts();

  /// Readable when a signal has come.
  int descriptor() const noexcept { return descriptor_.get(); }
  /// Throws `interrupted` if one has.
  void check() const;

 private:
  sigset_t before_{};
  file_descriptor descriptor_;
};

}  // namespace flash_sale
