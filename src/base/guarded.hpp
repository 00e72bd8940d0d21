#pragma once

#include <mutex>
#include <utility>

namespace rowlock::inline v1::base {

/// A mutex together with the data it guards, which cannot be reached without it. It is never held across a call to a
/// database or to the user's code.
template <class T>
class guarded {
 public:
  class access {
   public:
    T* operator->() const noexcept { return data_; }
    T& operator*() const noexcept { return *data_; }
    /// For waits on a condition variable.
    std::unique_lock<std::mutex>& lock() noexcept { return lock_; }

   private:
    friend class guarded;
    access(std::mutex& m, T& data) : lock_{m}, data_{&data} {}
    std::unique_lock<std::mutex> lock_;
    T* data_;
  };

  access lock() { return {mutex_, data_}; }

 private:
  std::mutex mutex_;
  T data_{};
};

}  // namespace rowlock::inline v1::base
