#include "engine/flow/flow.hpp"

namespace rowlock::inline v1::engine {

namespace {

thread_local bool carries_another = false;

}  // namespace

flow& flow::of_thread() noexcept {
  static class final : public flow {
  } the;
  return the;
}

std::thread::id calling_thread() noexcept { return carries_another ? std::thread::id{} : std::this_thread::get_id(); }

without_thread::without_thread() noexcept : before_{std::exchange(carries_another, true)} {}
without_thread::~without_thread() { carries_another = before_; }

}  // namespace rowlock::inline v1::engine
