#pragma once

#include <rowlock/client.hpp>
#include <rowlock/events.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rowlock::test {

/// An observer that records all events. Copies share the record.
class recorder {
 public:
  recorder();

  /// For client_options::observer.
  std::function<void(const event&)> observer() const;

  /// All events, in their order.
  std::vector<event> told() const;
  /// The events of one kind.
  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> out;
    for (const auto& each : told())
      if (const auto* found = std::get_if<Kind>(&each.what)) out.push_back(*found);
    return out;
  }

  std::vector<events::lost> losses() const { return all<events::lost>(); }
  std::vector<events::release_failed> failures() const { return all<events::release_failed>(); }
  std::vector<events::warning> warnings() const { return all<events::warning>(); }
  std::vector<events::sweep_failed> sweep_failures() const { return all<events::sweep_failed>(); }

  /// Whether a loss of this name, or its failed release with this code, was reported.
  bool lost(std::string_view name) const;
  bool failed(std::string_view name, errc cause) const;
  /// Whether a warning contained this.
  bool warned(std::string_view text) const;

 private:
  struct record;
  std::shared_ptr<record> record_;
};

/// The number of statements that a client has sent.
std::uint64_t statements_of(const client& locks);

/// An observer that ignores all events, for tests that lose locks on purpose.
std::function<void(const event&)> silent();

/// The options for a client with a silent observer and, unless the test sets time limits, longer ones for a busy
/// machine. ROWLOCK_TEST_COMBINE=off in the environment switches combining off.
client_options patient(client_options options);
/// A client with these options.
client connect_patiently(const std::string& url, client_options options = {});
/// The same, and creates missing tables first. A short time limit of the test does not apply to that.
client connect_and_migrate(const std::string& url, const client_options& options = {});

}  // namespace rowlock::test
