#include "support/recorder.hpp"

#include <algorithm>
#include <mutex>
#include <variant>

namespace rowlock::test {

struct recorder::record {
  std::mutex mutex;
  std::vector<event> told;

  template <class Kind>
  std::vector<Kind> all() {
    const std::lock_guard lock{mutex};
    std::vector<Kind> out;
    for (const auto& each : told)
      if (const auto* found = std::get_if<Kind>(&each.what)) out.push_back(*found);
    return out;
  }
};

recorder::recorder() : record_{std::make_shared<record>()} {}

std::function<void(const event&)> recorder::observer() const {
  return [record = record_](const event& e) {
    const std::lock_guard lock{record->mutex};
    record->told.push_back(e);
  };
}

std::vector<events::lost> recorder::losses() const { return record_->all<events::lost>(); }

std::vector<events::release_failed> recorder::failures() const { return record_->all<events::release_failed>(); }

std::vector<events::warning> recorder::warnings() const { return record_->all<events::warning>(); }

std::vector<events::sweep_failed> recorder::sweep_failures() const { return record_->all<events::sweep_failed>(); }

bool recorder::lost(std::string_view name) const {
  const auto all = losses();
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.name.view() == name; });
}

bool recorder::failed(std::string_view name, errc cause) const {
  const auto all = failures();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& e) { return e.name.view() == name && e.cause.code() == cause; });
}

bool recorder::warned(std::string_view text) const {
  const auto all = warnings();
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.sentence.find(text) != std::string::npos; });
}

std::function<void(const event&)> silent() {
  return [](const event&) {};
}

}  // namespace rowlock::test
