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

/// An observer that keeps what it is told. Copies share it.
class recorder {
 public:
  recorder();

  /// For client_options::observer.
  std::function<void(const event&)> observer() const;

  /// All there was, in its order.
  std::vector<event> told() const;
  /// Those of one kind.
  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> out;
    for (const auto& each : told())
      if (const auto* found = std::get_if<Kind>(&each.what)) out.push_back(*found);
    return out;
  }

  std::vector<events::lost> losses() const;
  std::vector<events::release_failed> failures() const;
  std::vector<events::warning> warnings() const;
  std::vector<events::sweep_failed> sweep_failures() const;

  /// Whether a loss of that name, or a failed release of it with that code, has been reported.
  bool lost(std::string_view name) const;
  bool failed(std::string_view name, errc cause) const;
  /// Whether a warning said this.
  bool warned(std::string_view text) const;

 private:
  struct record;
  std::shared_ptr<record> record_;
};

/// How many statements a client has sent.
std::uint64_t statements_of(const client& locks);

/// An observer for tests that lose locks on purpose and look at something else.
std::function<void(const event&)> silent();

/// Those of a client that says nothing and, where the test names no limit of time, gives a busy machine more than users
/// do. ROWLOCK_TEST_COMBINE=off in the environment switches combining off.
client_options patient(client_options options);
/// A client with these options.
client connect_patiently(const std::string& url, client_options options = {});
/// The same where the tables may not be there yet. A short limit is for what the test does, not for making them.
client connect_and_migrate(const std::string& url, const client_options& options = {});

}  // namespace rowlock::test
