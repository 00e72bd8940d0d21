#include "crew.hpp"

namespace bench {

crew::crew(const orders& what, std::size_t size) {
  for (std::size_t number = 0; number < size; ++number) members_.emplace_back(what);
  for (auto& each : members_) (void)each.hear();
}

// All at once, before they are waited for one by one.
crew::~crew() {
  for (auto& each : members_) each.stop();
}

std::vector<pid_t> crew::ids() const {
  std::vector<pid_t> all;
  for (const auto& each : members_) all.push_back(each.id());
  return all;
}

std::vector<answer> crew::ask(std::string_view what) {
  for (auto& each : members_) each.tell(what);
  std::vector<answer> all;
  for (auto& each : members_) all.push_back(each.hear());
  return all;
}

}  // namespace bench
