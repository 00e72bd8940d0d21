#include "driver/call_times.hpp"

#include <algorithm>
#include <string_view>

namespace rowlock::inline v1::driver {

namespace {

const char* doing(chore c) noexcept {
  switch (c) {
    case chore::connecting:
      return "connecting";
    case chore::beginning:
      return "beginning a transaction";
    case chore::committing:
      return "committing";
    case chore::rolling_back:
      return "rolling back";
    case chore::looking_for_changes:
      return "looking for changes";
    case chore::ending_sessions:
      return "ending a lost session";
    case chore::waking:
      return "waking who is next";
    default:
      return "migrating";
  }
}

void add(std::vector<statement_statistics>& to, std::string_view operation, const histogram& took) {
  if (base::total(took) == 0) return;
  auto found = std::find_if(to.begin(), to.end(), [&](const auto& each) { return each.operation == operation; });
  if (found == to.end()) found = to.insert(to.end(), {.operation = std::string{operation}});
  base::add(found->took, took);
}

}  // namespace

// A step that is none of a table's verbs ends a session.
void call_times::add(sheets::verb v, std::chrono::nanoseconds took) noexcept {
  const auto at = static_cast<std::size_t>(v);
  at < verbs_.size() ? verbs_.at(at).add(took) : add(chore::ending_sessions, took);
}

void call_times::add(chore c, std::chrono::nanoseconds took) noexcept {
  chores_.at(static_cast<std::size_t>(c)).add(took);
}

std::vector<statement_statistics> call_times::read() const {
  std::vector<statement_statistics> out;
  for (std::size_t i = 0; i < verbs_.size(); ++i)
    driver::add(out, sheets::doing(static_cast<sheets::verb>(i)), verbs_.at(i).read());
  for (std::size_t i = 0; i < chores_.size(); ++i) driver::add(out, doing(static_cast<chore>(i)), chores_.at(i).read());
  return out;
}

}  // namespace rowlock::inline v1::driver
