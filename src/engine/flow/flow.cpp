#include "engine/flow/flow.hpp"

#include <cassert>
#include <functional>
#include <new>

namespace rowlock::inline v1::engine {

namespace {

constinit thread_local bool carries_another = false;
constinit thread_local thread_flow* present = nullptr;

constexpr std::size_t rounded_up(std::size_t bytes) noexcept {
  return (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
}

}  // namespace

thread_flow::thread_flow() noexcept : before_{std::exchange(present, this)} {}
thread_flow::~thread_flow() { present = before_; }

void* thread_flow::allocate(std::size_t bytes) {
  const auto size = rounded_up(bytes);
  if (present == nullptr || size > present->frames_.size() - present->used_) return ::operator new(bytes);
  return present->frames_.data() + std::exchange(present->used_, present->used_ + size);
}

void thread_flow::deallocate(void* frame, std::size_t bytes) noexcept {
  if (present != nullptr) {
    const auto* const first = present->frames_.data();
    if (std::less_equal{}(first, frame) && std::less{}(frame, first + present->frames_.size())) {
      present->used_ -= rounded_up(bytes);
      assert(first + present->used_ == frame);
      return;
    }
  }
  ::operator delete(frame);
}

std::thread::id calling_thread() noexcept { return carries_another ? std::thread::id{} : std::this_thread::get_id(); }

without_thread::without_thread() noexcept
    : before_{std::exchange(carries_another, true)}, flow_before_{std::exchange(present, nullptr)} {}
without_thread::~without_thread() {
  carries_another = before_;
  present = flow_before_;
}

}  // namespace rowlock::inline v1::engine
