#include "support/recorder.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <utility>

#include "testkit/eventually.hpp"

namespace rowlock::test {

struct recorder::record {
  std::mutex mutex;
  std::vector<event> told;
};

recorder::recorder() : record_{std::make_shared<record>()} {}

std::function<void(const event&)> recorder::observer() const {
  return [record = record_](const event& e) {
    const std::lock_guard lock{record->mutex};
    record->told.push_back(e);
  };
}

std::vector<event> recorder::told() const {
  const std::lock_guard lock{record_->mutex};
  return record_->told;
}

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

std::uint64_t statements_of(const client& locks) {
  std::uint64_t out = 0;
  for (const auto& each : locks.stats().statements)
    out = std::accumulate(each.took.counts.begin(), each.took.counts.end(), out);
  return out;
}

std::function<void(const event&)> silent() {
  return [](const event&) {};
}

client_options patient(client_options options) {
  constexpr duration ample = patience / 2;  // so that eventually() sees the end of such a call
  const client_options usual;
  if (options.connect_timeout == usual.connect_timeout) options.connect_timeout = ample;
  if (options.call_timeout == usual.call_timeout) options.call_timeout = ample;
  if (!options.observer) options.observer = silent();
  if (const char* said = std::getenv("ROWLOCK_TEST_COMBINE"); said != nullptr && std::string_view{said} == "off")
    options.combine = false;
  return options;
}

client connect_patiently(const std::string& url, client_options options) {
  return client::connect(url, patient(std::move(options)));
}

client connect_and_migrate(const std::string& url, const client_options& options) {
  const client_options usual;
  if (options.call_timeout < usual.call_timeout) {
    auto patient = options;
    patient.call_timeout = usual.call_timeout;
    patient.observer = silent();
    connect_patiently(url, std::move(patient)).migrate();
    return connect_patiently(url, options);
  }
  auto locks = connect_patiently(url, options);
  locks.migrate();
  return locks;
}

}  // namespace rowlock::test
