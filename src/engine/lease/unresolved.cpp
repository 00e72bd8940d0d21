#include "engine/lease/unresolved.hpp"

#include <set>

namespace rowlock::inline v1::engine {

std::vector<unresolved> take_repeated_names(std::vector<unresolved>& from) {
  std::set<lock_name> seen;
  return extract_if(from, [&](const unresolved& e) { return !seen.insert(e.name).second; });
}

std::vector<unresolved> take_staying(std::vector<unresolved>& from, base::instant now) {
  return extract_if(from, [now](const unresolved& e) { return e.stays_until > now; });
}

}  // namespace rowlock::inline v1::engine
