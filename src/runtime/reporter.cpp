#include "runtime/reporter.hpp"

#include <iostream>
#include <sstream>
#include <string>

namespace rowlock::inline v1::runtime {

namespace {

std::string sentence(const events::lost& e) {
  return "lost the lock \"" + std::string{e.name.view()} + "\" (" + std::string{to_string(e.reason)} + ")";
}
std::string sentence(const events::release_failed& e) {
  return "releasing the lock \"" + std::string{e.name.view()} + "\" failed: " + e.cause.what();
}
std::string sentence(const events::sweep_failed& e) { return std::string{"sweeping failed: "} + e.cause.what(); }
std::string sentence(const events::warning& e) { return e.sentence; }

/// What is not told there.
template <class Other>
std::string sentence(const Other& /*e*/) {
  return {};
}

void to_clog(const event& e) {
  const std::string line = std::visit([](const auto& what) { return sentence(what); }, e.what);
  if (!line.empty()) std::clog << "rowlock: " + line + "\n" << std::flush;
}

}  // namespace

reporter::reporter(observer o) : observer_{o ? std::move(o) : observer{to_clog}} {}

void reporter::deliver() noexcept {
  const auto events = std::exchange(*waiting_.lock(), {});
  for (const event& e : events) {
    try {
      observer_(e);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the observer's failures are not ours
    }
  }
}

}  // namespace rowlock::inline v1::runtime
