#include "recorder.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace flash_sale {
namespace {

std::int64_t microseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

void to_json(nlohmann::json& to, const purchase& from) {
  to = nlohmann::json::array({from.asked, from.granted, from.ordered, from.released, from.order, from.conflicted});
}

void from_json(const nlohmann::json& from, purchase& to) {
  to = {.asked = from.at(0),
        .granted = from.at(1),
        .ordered = from.at(2),
        .released = from.at(3),
        .order = from.at(4),
        .conflicted = from.at(5)};
}

void recorder::ask() {
  if (is_on()) now_ = {.asked = microseconds_now()};
}

void recorder::grant() {
  if (is_on()) now_.granted = microseconds_now();
}

void recorder::order() {
  if (is_on()) now_.ordered = microseconds_now();
}

void recorder::release() {
  if (!is_on()) return;
  now_.released = microseconds_now();
  keep();
}

void recorder::retry() {
  if (!is_on()) return;
  // Nothing was ordered where a statement of the attempt failed: when, is not known.
  now_.released = std::max(now_.ordered, now_.granted);
  now_.conflicted = true;
  keep();
  now_ = {.asked = now_.released};
}

void recorder::keep() {
  if (kept_.size() < capacity_) {
    last_ = kept_.size();
    kept_.push_back(now_);
  } else {
    last_ = (last_ + 1) % capacity_;
    kept_[last_] = now_;
  }
}

void recorder::bought(std::int64_t row) {
  if (!is_on()) return;
  auto& latest = kept_[last_];
  latest.order = row;
  if (latest.ordered == 0) latest.ordered = latest.released;
}

std::vector<purchase> recorder::latest() const {
  if (kept_.size() < capacity_ || kept_.empty()) return kept_;
  std::vector<purchase> all;
  const auto oldest = kept_.begin() + static_cast<std::ptrdiff_t>((last_ + 1) % capacity_);
  std::rotate_copy(kept_.begin(), oldest, kept_.end(), std::back_inserter(all));
  return all;
}

}  // namespace flash_sale
