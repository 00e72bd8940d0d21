#pragma once

#include <utility>

namespace rowlock::inline v1::driver {

/// Gives a variable another value for as long as this object lives.
template <class T>
class scoped_value {
 public:
  scoped_value(T& variable, T value) : variable_{variable}, before_{std::exchange(variable, std::move(value))} {}
  scoped_value(const scoped_value&) = delete;
  scoped_value& operator=(const scoped_value&) = delete;
  ~scoped_value() { variable_ = std::move(before_); }

 private:
  T& variable_;
  T before_;
};

}  // namespace rowlock::inline v1::driver
