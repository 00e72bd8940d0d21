#pragma once

#include <rowlock/lock_name.hpp>

#include <optional>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/identity.hpp"
#include "engine/retry_list.hpp"

namespace rowlock::inline v1::engine {

/// An acquisition that may still be in the database although nobody here relies on it: its release failed, or the
/// outcome of the attempt is unknown. It is released again and again until that is answered, or until its lease and
/// every call that might have brought it there have run out.
struct unresolved {
  lock_name name;
  core::acquisition_id acquisition;
  base::instant until{};
  base::instant from{};  ///< not before: its holder has time to stop until then
  base::instant next{};
  int attempts = 0;
  bool may_appear = false;  ///< it was not seen in the database yet: its statement may still be under way
  duration at_least{};      ///< for so long after its grant it must stay in the database,
  base::instant stays_until = base::instant::min();  ///< which is certainly over then
  core::session_number confirmed_by = core::session_number::unknown;
  bool is_share = false;
  bool may_have_granted = false;  ///< by a release that was not answered
  bool tells_if_gone = false;     ///< what ends it otherwise tells nobody who waits
  bool may_be_prolonged = false;  ///< by a request that was sent before: it must be released once more
};

class unresolved_list : public retry_list<unresolved> {
 public:
  /// Those that may be released, due or not: the last chance.
  std::vector<unresolved> take_permitted(base::instant now) {
    return take_if([now](const unresolved& e) { return e.from <= now && !e.may_have_granted; });
  }
  /// Whether anybody may release this one now; and if so, which session of the server has confirmed it.
  std::optional<core::session_number> permits(std::string_view acquisition, base::instant now) {
    return find(
        [&](const unresolved& e) {
          return e.acquisition.text() == acquisition && e.from <= now && e.stays_until <= now && !e.may_have_granted;
        },
        [](const unresolved& e) { return e.confirmed_by; });
  }
};

/// Takes out those that must stay yet.
std::vector<unresolved> take_staying(std::vector<unresolved>& from, base::instant now);

/// Takes out all but the first of each name, so that a batch holds a name at most once.
std::vector<unresolved> take_repeated_names(std::vector<unresolved>& from);

}  // namespace rowlock::inline v1::engine
