#include "store/sharing.hpp"

#include <algorithm>
#include <cstdint>

#include "core/sharing.hpp"
#include "core/sweep.hpp"
#include "core/wait.hpp"
#include "store/correlate.hpp"

namespace rowlock::inline v1::store {

namespace {

const sharer* find_in(const std::vector<sharer>& all, std::string_view acquisition) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const sharer& each) { return each.acquisition == acquisition; });
  return found == all.end() ? nullptr : &*found;
}

records run_one(sql::verb how, const access& db, const lease_ref& one) {
  return db.run(how,
                {{field::name, one.name}, {field::acquisition, one.acquisition}, {field::lease, one.lease.count()}});
}

// Nothing was prolonged of some. The statement has waited for the row of a single name, so a look tells why. Of several
// names it has passed over the rows that others had locked just then: the answer is open.
void explain_silence_of_shares(const access& db, std::span<const lease_ref> batch, std::vector<renewal>& answers) {
  const auto name = batch[0].name;
  if (std::any_of(batch.begin(), batch.end(), [&](const lease_ref& each) { return each.name != name; })) return;
  const auto living = sharers(db, name);
  const auto why = look_at(db, name) ? loss_reason::taken_over : loss_reason::row_vanished;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (answers[i].what != standing::kept && !find_in(living, batch[i].acquisition))
      answers[i] = {.what = standing::lost, .left = {}, .why = why};
}

std::optional<converted> convert_once(sql::verb how, const access& db, const conversion& what) {
  const auto rows = db.run(how, {{field::name, what.lease.name},
                                 {field::acquisition, what.lease.acquisition},
                                 {field::owner, what.owner},
                                 {field::thread, what.thread},
                                 {field::note, what.note.empty() ? driver::argument{} : driver::argument{what.note}},
                                 {field::attempt, what.attempt},
                                 {field::permits, what.permits}});
  if (rows.empty()) return std::nullopt;
  return converted{.token = fencing_token{rows[0].integer(field::version)},
                   .left = duration{rows[0].integer(field::left)}};
}

std::optional<converted> convert(sql::verb how, const access& db, const conversion& what) {
  auto out = convert_once(how, db, what);
  if (out || db.spare == nullptr || look_at(db, what.lease.name)) return out;
  return convert_once(how, db.elsewhere(), what);
}

// Who waits is told of the end, or, where the database does not tell, found by whoever has released.
release_outcome release_share(const access& db, const lease_ref& one) {
  const auto rows = run_one(sql::verb::release_share, db, one);
  if (rows.empty()) {
    if (find_share(db, one.name, one.acquisition)) return release_outcome::pinned;
    return look_at(db, one.name) ? release_outcome::gone : release_outcome::vanished;
  }
  const bool may_be_waited_for = !rows[0].has(field::waiting) || rows[0].is_true(field::waiting);
  const bool is_told = rows[0].has(field::told) && !rows[0].is_null(field::told);
  return may_be_waited_for && !is_told ? release_outcome::released_untold : release_outcome::released;
}

std::vector<release_outcome> release_each(const access& db, std::span<const lease_ref> batch) {
  std::vector<release_outcome> out;
  out.reserve(batch.size());
  for (const auto& one : batch) out.push_back(release_share(db, one));
  return out;
}

}  // namespace

std::optional<converted> upgrade_share(const access& db, const conversion& what) {
  return convert(sql::verb::upgrade_share, db, what);
}

std::optional<converted> downgrade(const access& db, const conversion& what) {
  return convert(sql::verb::downgrade, db, what);
}

std::vector<renewal> renew_shares(const access& db, std::span<const lease_ref> batch) {
  return prolong(sql::verb::renew_share, db, batch, explain_silence_of_shares);
}

std::vector<renewal> extend_shares(const access& db, std::span<const lease_ref> batch) {
  return prolong(sql::verb::extend_share, db, batch, explain_silence_of_shares);
}

std::vector<release_outcome> release_shares(const access& db, std::span<const lease_ref> batch) {
  auto outcomes = release_each(db, batch);
  ask_elsewhere(
      db, batch, outcomes, [](release_outcome o) { return is_vanished(o); }, release_each);
  return without_vanished(std::move(outcomes));
}

// Some databases take off one at a time.
bool reap_shares(const access& db, std::string_view name) {
  bool out = false;
  while (!db.run(sql::verb::reap_shares, {{field::name, name}}).empty()) out = true;
  return out;
}

std::vector<sharer> sharers(const access& db, std::string_view name) {
  std::vector<sharer> out;
  for (const auto& r : db.run(sql::verb::sharers, {{field::name, name}}))
    out.push_back({.info = info_of(r), .acquisition = r.text(field::acquisition)});
  return out;
}

std::optional<duration> left_of_shares(const access& db, std::string_view name, std::optional<duration> left) {
  for (const auto& each : sharers(db, name))
    if (const auto& end = each.info.expires_in; end && (!left || *end < *left)) left = *end;
  return left;
}

std::optional<sharer> find_share(const access& db, std::string_view name, std::string_view acquisition) {
  const auto all = sharers(db, name);
  const auto* const found = find_in(all, acquisition);
  return found == nullptr ? std::nullopt : std::optional{*found};
}

bool has_share(const access& db, std::string_view name, std::string_view acquisition) {
  if (find_share(db, name, acquisition)) return true;
  return db.spare != nullptr && !look_at(db, name) && find_share(db.elsewhere(), name, acquisition);
}

std::vector<std::string> find_dead_shares(const access& db, std::string_view after, std::size_t number) {
  std::vector<std::string> out;
  for (const auto& r : db.run(sql::verb::find_dead_shares, {{field::name, after},
                                                            {field::number, static_cast<std::int64_t>(number)},
                                                            {field::retention, core::ticket_retention.count()}}))
    out.push_back(r.text(field::name));
  return out;
}

void purge_shares(const access& db, std::string_view name) { db.run(sql::verb::purge_shares, {{field::name, name}}); }

}  // namespace rowlock::inline v1::store
