#include "progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace flash_sale {
namespace {

constexpr const char* erase = "\r\033[K";

}  // namespace

progress_line::progress_line(std::string run, std::size_t units)
    : run_{std::move(run)}, units_{units}, on_terminal_{::isatty(STDERR_FILENO) == 1} {}

progress_line::~progress_line() {
  if (on_terminal_) std::fputs(erase, stderr);
}

void progress_line::show(shop& of) const {
  if (!on_terminal_) return;
  const auto sold = static_cast<long long>(of.count().orders);
  std::fprintf(stderr, "%s%s: %lld/%zu sold", erase, run_.c_str(), sold, units_);
}

}  // namespace flash_sale
