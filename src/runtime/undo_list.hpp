#pragma once

#include <rowlock/lock_name.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// Acquisitions that may still stand in the database although nobody here believes in them: a release failed, or the
/// outcome of an attempt is unknown. Each is released again and again until that got an answer, or until its lease and
/// every call that might have brought it there have run out.
class undo_list {
 public:
  struct entry {
    lock_name name;
    std::string acquisition;
    core::instant until{};
    core::instant from{};  ///< not before: its holder is to stop until then
    core::instant next{};
    int attempts = 0;
    std::int64_t ticket = 0;  ///< where it is a ticket that is to go, and its number is known
    bool may_appear = false;  ///< it was not seen in the database yet: its statement may still be under way
    duration at_least{};      ///< for so long since its grant it is to stay in the database,
    core::instant stays_until = core::instant::min();  ///< which is certainly over then
    std::int64_t confirmed_by = 0;                     ///< as the acquisition tells it
    bool may_be_prolonged = false;                     ///< by what was sent before: it is to be undone once more
  };

  void add(entry e) { entries_.lock()->push_back(std::move(e)); }
  /// Takes out what is due.
  std::vector<entry> take_due(core::instant now);
  /// Takes out the tickets of this name whose numbers are known, due or not.
  std::vector<entry> take_tickets(const lock_name& name);
  /// Takes out what may be undone, due or not: the last chance.
  std::vector<entry> take_permitted(core::instant now);
  /// Whether this one may be undone now, for good, by whoever can.
  bool permits(std::string_view acquisition, core::instant now) { return confirmed_by(acquisition, now).has_value(); }
  /// If so: by which session of the server it was confirmed, as the acquisition tells it.
  std::optional<std::int64_t> confirmed_by(std::string_view acquisition, core::instant now);
  /// After another failure: once more later, unless its time is over.
  void put_back(std::vector<entry> failed, core::instant now);
  /// When there is next something to do.
  core::instant next();

 private:
  template <class Predicate>
  std::vector<entry> take(Predicate wanted);

  guarded<std::vector<entry>> entries_;
};

/// Leaves what is to go at once, and gives what is to stay yet.
std::vector<undo_list::entry> take_staying(std::vector<undo_list::entry>& from, core::instant now);

/// Leaves the first of each name, so that a batch holds a name at most once, and gives the others.
std::vector<undo_list::entry> take_repeated_names(std::vector<undo_list::entry>& from);

}  // namespace rowlock::inline v1::runtime
