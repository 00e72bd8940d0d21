#pragma once

#include <memory>

namespace rowlock::inline v1::base {

/// Something that must be closed before the program ends.
class closable {
 public:
  closable() = default;
  closable(const closable&) = delete;
  closable& operator=(const closable&) = delete;
  virtual ~closable() = default;
  virtual void close() noexcept = 0;
};

/// Closes it when the program ends, if it still exists, before the static objects are destroyed that were made until
/// now: a driver may need some, and an object of ours in an older static variable would outlive them. Each `kind` of
/// driver has static objects of its own, so everything is closed before those of the last kind are destroyed.
void close_at_exit(const std::shared_ptr<closable>& what, const void* kind);

}  // namespace rowlock::inline v1::base
