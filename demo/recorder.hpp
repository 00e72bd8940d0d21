#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flash_sale {

/// One purchase, or one attempt at it. Times are in microseconds of CLOCK_MONOTONIC, which all processes of a host
/// share.
struct purchase {
  std::int64_t asked = 0;     ///< began to wait for the lock
  std::int64_t granted = 0;   ///< had it; without a lock: began
  std::int64_t ordered = 0;   ///< had written the order, if there is one; 0: see released
  std::int64_t released = 0;  ///< had released the lock; without a lock: ended
  std::int64_t order = 0;     ///< the number of the order's row; 0: nothing was bought
  bool conflicted = false;    ///< an attempt that rowlock::optimistically had to repeat
};

/// As an array, because there are many of them.
void to_json(nlohmann::json& to, const purchase& from);
void from_json(const nlohmann::json& from, purchase& to);

/// Notes the latest purchases of one buyer. With a capacity of 0 it does nothing.
class recorder {
 public:
  explicit recorder(std::size_t capacity) : capacity_{capacity} {}

  bool is_on() const noexcept { return capacity_ != 0; }

  void ask();
  void grant();
  /// All that belongs to the order is written, if there is one.
  void order();
  void release();
  /// The attempt since grant() conflicted: it ends where its last word was heard, and the wait for the next begins.
  void retry();
  /// Of the purchase that was released last: the number of its order's row.
  void bought(std::int64_t row);

  /// In the order of their release.
  std::vector<purchase> latest() const;

 private:
  void keep();

  std::size_t capacity_;
  purchase now_{};
  std::vector<purchase> kept_;  ///< full: a ring
  std::size_t last_ = 0;        ///< in kept_
};

}  // namespace flash_sale
