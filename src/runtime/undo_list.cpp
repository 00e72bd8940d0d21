#include "runtime/undo_list.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/lease.hpp"

namespace rowlock::inline v1::runtime {

namespace {

template <class Predicate>
std::vector<undo_list::entry> take_from(std::vector<undo_list::entry>& all, Predicate wanted) {
  const auto found = std::stable_partition(all.begin(), all.end(), [&](const auto& e) { return !wanted(e); });
  std::vector<undo_list::entry> out{std::make_move_iterator(found), std::make_move_iterator(all.end())};
  all.erase(found, all.end());
  return out;
}

}  // namespace

template <class Predicate>
std::vector<undo_list::entry> undo_list::take(Predicate wanted) {
  return take_from(*entries_.lock(), wanted);
}

std::vector<undo_list::entry> undo_list::take_due(core::instant now) {
  return take([now](const entry& e) { return e.next <= now; });
}

std::vector<undo_list::entry> undo_list::take_tickets(const lock_name& name) {
  return take([&](const entry& e) { return e.ticket > 0 && e.name == name; });
}

std::vector<undo_list::entry> undo_list::take_permitted(core::instant now) {
  return take([now](const entry& e) { return e.from <= now; });
}

std::optional<std::int64_t> undo_list::confirmed_by(std::string_view acquisition, core::instant now) {
  const auto entries = entries_.lock();
  const auto found = std::find_if(entries->begin(), entries->end(), [&](const entry& e) {
    return e.acquisition == acquisition && e.from <= now && e.stays_until <= now;
  });
  return found == entries->end() ? std::nullopt : std::optional{found->confirmed_by};
}

void undo_list::put_back(std::vector<entry> failed, core::instant now) {
  const auto entries = entries_.lock();
  for (entry& e : failed) {
    e.next = core::later(now, core::undo_pause(e.attempts++));
    if (e.next < e.until) entries->push_back(std::move(e));
  }
}

core::instant undo_list::next() {
  const auto entries = entries_.lock();
  core::instant earliest = core::instant::max();
  for (const entry& e : *entries) earliest = std::min(earliest, e.next);
  return earliest;
}

std::vector<undo_list::entry> take_repeated_names(std::vector<undo_list::entry>& from) {
  std::set<lock_name> seen;
  return take_from(from, [&](const undo_list::entry& e) { return !seen.insert(e.name).second; });
}

std::vector<undo_list::entry> take_staying(std::vector<undo_list::entry>& from, core::instant now) {
  return take_from(from, [now](const undo_list::entry& e) { return e.stays_until > now; });
}

}  // namespace rowlock::inline v1::runtime
