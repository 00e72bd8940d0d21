#pragma once

#include <rowlock/rowlock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "server/steps.hpp"

// What programs of older schemas send, for tests of rolling deploys.

namespace rowlock::test {

/// Our texts, with that done to each.
sheets::sheet revised(const sheets::sheet& ours, const std::function<void(sheets::step&)>& change);
/// The texts of older schemas are ours, but for a release that asks for no mark. `telling`: a further column of it.
sheets::sheet with_old_release(const sheets::sheet& ours, std::string_view telling);
/// They know of no names that are shared.
sheets::sheet table_of_fifth_schema(const sheets::sheet& ours);
sheets::sheet table_of_first_schema(const sheets::sheet& ours);

/// Sends what a program of the first schema does, and neither asks for the schema nor knows of waiters. One lock at a
/// time.
class old_program {
 public:
  struct settings {
    duration lease{std::chrono::seconds{60}};
    steps::revision texts = table_of_first_schema;
  };
  explicit old_program(const std::string& url) : old_program{url, settings{}} {}
  old_program(const std::string& url, const settings& with) : steps_{url, {}, with.texts}, lease_{with.lease} {}

  /// Asks until it has it.
  fencing_token acquire(const std::string& name);
  /// The same with a ticket, when its turn has come.
  fencing_token acquire_in_turn(const std::string& name);
  std::optional<fencing_token> try_acquire(const std::string& name);
  bool renew(const std::string& name);
  bool release(const std::string& name);

 private:
  std::string new_attempt();
  store::lease_ref mine(const std::string& name) const;

  steps steps_;
  duration lease_;
  std::string acquisition_;
  int attempts_ = 0;
};

}  // namespace rowlock::test
