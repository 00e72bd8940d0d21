#include "property/reference.hpp"

#include <algorithm>

namespace rowlock::test::property {

reference::verdict reference::take(const step& s) {
  if (s.what == verb::acquire || s.what == verb::share || s.what == verb::take_permits) return ask(s);
  if (s.what == verb::force_release || s.what == verb::force_token) return {.what = force(s)};
  const auto found = handles_.find(s.of);
  return found == handles_.end() ? verdict{} : with_handle(s, found->second);
}

reference::verdict reference::ask(const step& s) {
  const bool is_alone = s.what == verb::acquire;
  const int holder = s.what == verb::take_permits ? 0 : s.holder;
  if (const auto own = had_already(s, holder); !own.empty()) {
    if (own.size() > 1) return {};  // one of them was freed, and its client does not know which
    const auto h = *own.begin();
    ++h->handles;
    handles_[s.number] = h;
    return {.what = answer::yes};
  }
  if (!is_alone && has_row_locks_ && is_had_by_transaction(s.name))
    return {};  // it would wait for the row, for a second
  if (!is_grantable(s)) return {.what = answer::no};
  const auto h = std::make_shared<holding>(holding{.client = s.client,
                                                   .name = s.name,
                                                   .holder = holder,
                                                   .strategy = is_alone ? s.strategy : strategy::unique_index,
                                                   .is_alone = is_alone,
                                                   .permits = s.what == verb::take_permits ? s.permits : 1});
  held_[s.name].push_back(h);
  handles_[s.number] = h;
  return {.what = answer::yes, .granted = h};
}

std::set<holding_ptr> reference::had_already(const step& s, int holder) const {
  std::set<holding_ptr> out;
  for (const auto& [number, h] : handles_)
    if (holder != 0 && h->holder == holder && h->client == s.client && h->name == s.name && h->is_believed &&
        (h->is_alone || s.what != verb::acquire))
      out.insert(h);
  return out;
}

bool reference::is_had_by_transaction(int name) const {
  const auto found = held_.find(name);
  return found != held_.end() && found->second[0]->strategy == strategy::for_update;
}

bool reference::is_believed_by_its_client(const step& s) const {
  return std::any_of(handles_.begin(), handles_.end(), [&](const auto& each) {
    return each.second->client == s.client && each.second->name == s.name && each.second->is_believed;
  });
}

bool reference::is_grantable(const step& s) const {
  // No session is taken for what the client has, as far as it knows.
  const bool is_by_transaction = s.what == verb::acquire && s.strategy == strategy::for_update && has_row_locks_;
  if (is_by_transaction && is_believed_by_its_client(s)) return false;
  const auto found = held_.find(s.name);
  if (found == held_.end()) return true;
  if (s.what == verb::acquire || found->second[0]->is_alone) return false;
  if (s.what == verb::share) return wrong_ != mistake::sharers_exclude_each_other;
  std::int64_t out = s.permits;
  for (const auto& each : found->second) out += each->permits;
  return out <= all_permits || wrong_ == mistake::permits_are_endless;
}

reference::verdict reference::with_handle(const step& s, const holding_ptr& h) {
  const bool has_lease = h->strategy != strategy::for_update;
  switch (s.what) {
    case verb::release:
      return {.what = release(s, h)};
    case verb::extend:
      return {.what = has_lease ? standing(h) : answer::unsupported};
    case verb::upgrade:
      return upgrade(h);
    case verb::downgrade:
      return downgrade(h);
    default:
      return {.what = (has_lease || !has_row_locks_) && h->is_alone ? standing(h) : answer::unsupported};
  }
}

// A handle that is not the last asks nobody.
answer reference::release(const step& s, const holding_ptr& h) {
  const bool is_last = --h->handles == 0 || wrong_ == mistake::first_handle_lets_go;
  const auto out = is_last ? standing(h) : h->is_believed ? answer::yes : answer::lost;
  if (is_last) free(h->client, h);
  handles_.erase(s.of);
  return out;
}

reference::verdict reference::upgrade(const holding_ptr& h) {
  if (h->is_alone) return {.what = answer::yes};
  const auto what = standing(h);
  if (what != answer::yes) return {.what = what};
  if (held_[h->name].size() > 1 && wrong_ != mistake::upgrades_beside_others) return {.what = answer::no};
  h->is_alone = true;
  return {.what = answer::yes, .granted = h};
}

reference::verdict reference::downgrade(const holding_ptr& h) {
  if (!h->is_alone) return {.what = answer::yes};
  if (!h->is_believed) return {.what = answer::lost};
  if (h->strategy == strategy::for_update || h->handles > 1) return {.what = answer::unsupported};
  const auto what = standing(h);
  if (what != answer::yes) return {.what = what};
  h->is_alone = false;
  return {.what = answer::yes, .granted = h};
}

// Who holds by a transaction, or by a process, is spared: its loss is told by a session that ends, at some time.
answer reference::force(const step& s) {
  if (is_had_by_transaction(s.name)) return answer::nothing;
  const auto found = held_.find(s.name);
  const auto of = handles_.find(s.of);
  if (s.what == verb::force_token && of == handles_.end()) return answer::nothing;
  if (found == held_.end()) return answer::no;
  bool is_freed = false;
  for (const auto all = found->second; const auto& each : all)
    if (s.what == verb::force_release || each->token == of->second->token) {
      free(s.client, each);
      is_freed = true;
    }
  return is_freed ? answer::yes : answer::no;
}

// Its own client knows at once, others when they ask.
void reference::free(int client, const holding_ptr& h) {
  if (client == h->client || wrong_ == mistake::force_is_told_at_once) h->is_believed = false;
  const auto found = held_.find(h->name);
  if (found == held_.end()) return;
  std::erase(found->second, h);
  if (found->second.empty()) held_.erase(found);
}

bool reference::is_held(const holding_ptr& h) const {
  const auto found = held_.find(h->name);
  return found != held_.end() && std::find(found->second.begin(), found->second.end(), h) != found->second.end();
}

answer reference::standing(const holding_ptr& h) const {
  h->is_believed = h->is_believed && is_held(h);
  return h->is_believed ? answer::yes : answer::lost;
}

}  // namespace rowlock::test::property
