#include "store/sharing.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <cstdint>

#include "core/sharing.hpp"
#include "core/wait.hpp"
#include "store/correlate.hpp"

namespace rowlock::inline v1::store {

namespace {

std::optional<converted> convert_once(sheets::verb how, const access& db, const conversion& what) {
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

std::optional<converted> convert(sheets::verb how, const access& db, const conversion& what) {
  auto out = convert_once(how, db, what);
  if (out || db.spare == nullptr || look_at(db, what.lease.name)) return out;
  return convert_once(how, db.elsewhere(), what);
}

}  // namespace

std::optional<converted> upgrade_share(const access& db, const conversion& what) {
  return convert(sheets::verb::upgrade_share, db, what);
}

std::optional<converted> downgrade(const access& db, const conversion& what) {
  return convert(sheets::verb::downgrade, db, what);
}

namespace {

records sharers_of(const access& db, std::span<const std::string_view> names, bool expired) {
  const auto one = [&](std::string_view name) -> arguments {
    return {{field::name, name}, {field::expired, std::int64_t{expired}}};
  };
  return with_each(names, one,
                   [&](std::span<const arguments> all) { return db.run_batch(sheets::verb::sharers, all); });
}

}  // namespace

// Only what is still over when its row is locked. Where that is locked by others, they may have taken it off.
bool reap_shares(const access& db, std::span<const std::string_view> names) try {
  constexpr std::size_t most = 1024;
  const auto dead = sharers_of(db, names, true);
  std::vector<arguments> batch;
  for (std::size_t i = 0; i < std::min(dead.size(), most); ++i)
    batch.push_back({{field::name, dead[i].key()},
                     {field::acquisition, std::string_view{std::get<std::string>(dead[i].at(field::acquisition))}},
                     {field::expired, std::int64_t{1}}});
  return !batch.empty() && !db.run_batch(sheets::verb::release_share, batch).empty();
} catch (const error& e) {
  if (e.code() != errc::call_timed_out || e.connection_is_unusable()) throw;
  return false;
}

std::vector<sharer> sharers(const access& db, std::string_view name) {
  std::vector<sharer> out;
  for (const auto& r : sharers_of(db, {&name, 1}, false))
    out.push_back({.info = info_of(r), .acquisition = r.text(field::acquisition)});
  return out;
}

std::optional<duration> left_of_shares(const access& db, std::string_view name, std::optional<duration> left) {
  for (const auto& each : sharers(db, name))
    if (const auto& end = each.info.expires_in; end && (!left || *end < *left)) left = *end;
  return left;
}

std::optional<sharer> find_share(const access& db, std::string_view name, std::string_view acquisition) {
  for (auto& each : sharers(db, name))
    if (each.acquisition == acquisition) return std::move(each);
  return std::nullopt;
}

bool has_share(const access& db, std::string_view name, std::string_view acquisition) {
  if (find_share(db, name, acquisition)) return true;
  return db.spare != nullptr && !look_at(db, name) && find_share(db.elsewhere(), name, acquisition);
}

std::vector<std::string> find_dead_shares(const access& db, std::string_view after, std::size_t number) {
  std::vector<std::string> out;
  for (const auto& r : db.run(sheets::verb::find_dead_shares, {{field::name, after},
                                                               {field::number, static_cast<std::int64_t>(number)},
                                                               {field::retention, core::ticket_retention.count()}}))
    out.push_back(r.text(field::name));
  return out;
}

void purge_shares(const access& db, std::string_view name) {
  db.run(sheets::verb::purge_shares, {{field::name, name}});
}

}  // namespace rowlock::inline v1::store
