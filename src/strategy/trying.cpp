#include "strategy/trying.hpp"

#include <rowlock/error.hpp>

#include "strategy/matching.hpp"

namespace rowlock::inline v1::strategies {

namespace {

driver::request request_of(const attempt& a) {
  driver::request out{a.name, a.owner, a.thread, a.acquisition, a.lease.count()};
  if (!a.note.empty()) out[5] = a.note;
  if (!a.liveness.empty()) out[6] = a.liveness;
  if (a.seen != fencing_token{}) out[6] = a.seen.value();
  if (a.queued) {
    out[6] = a.queued->ticket;
    out[7] = a.queued->turn;
  }
  return out;
}

// acquisition, version (NULL: busy), left; in turn also: behind others, has its ticket, has left the queue, looks free
answer answer_of(const driver::row& r) {
  const auto version = driver::maybe_integer(r.at(1));
  const auto left = driver::maybe_integer(r.at(2));
  answer out{.what = version ? verdict::granted : verdict::busy,
             .token = fencing_token{version.value_or(0)},
             .left = left ? std::optional{duration{*left}} : std::nullopt};
  if (r.size() < 7) return out;
  const auto says = [&](std::size_t column) { return driver::integer(r.at(column)) != 0; };
  out.is_behind = says(3);
  out.has_place = says(4);
  out.has_left = says(5);
  if (!version && says(6)) out.what = verdict::behind;
  return out;
}

std::vector<driver::request> names_of(std::span<const attempt> batch) {
  std::vector<driver::request> out;
  out.reserve(batch.size());
  for (const attempt& a : batch) out.push_back({a.name});
  return out;
}

}  // namespace

// A row that was made meanwhile, and is kept in a transaction, is one that is locked: skipped like any other. Where
// none is there, it is the table that somebody has locked, and that is a failure. Nothing was written in either case.
std::vector<driver::row> run_to_make(const dialect::table& sql, dialect::verb how, driver::session& on,
                                     std::span<const driver::request> requests, const driver::limits& until) try {
  return on.run(sql[how], requests, until);
} catch (const error& e) {
  if (!sql[how].waits_to_make || e.code() != errc::call_timed_out || e.connection_is_unusable()) throw;
  if (on.run(sql[dialect::verb::inspect], requests, until).empty()) throw;
  return {};
}

std::vector<answer> try_all(const dialect::table& sql, dialect::verb how, driver::session& on,
                            std::span<const attempt> batch, const driver::limits& until) {
  std::vector<driver::request> requests;
  requests.reserve(batch.size());
  for (const attempt& a : batch) requests.push_back(request_of(a));
  std::vector<answer> answers(batch.size());
  const auto rows = run_to_make(sql, how, on, requests, until);
  match(batch, &attempt::acquisition, rows, [&](std::size_t i, const driver::row& r) { answers[i] = answer_of(r); });
  return answers;
}

std::vector<std::optional<row_state>> look_at_all(const dialect::table& sql, driver::session& on,
                                                  std::span<const attempt> batch, const driver::limits& until) {
  std::vector<std::optional<row_state>> states(batch.size());
  const auto rows = on.run(sql[dialect::verb::inspect], names_of(batch), until);
  match(batch, &attempt::name, rows, [&](std::size_t i, const driver::row& r) { states[i] = row_state_of(r); });
  return states;
}

answer busy(const row_state& held) { return {.what = verdict::busy, .token = {}, .left = held.left}; }

void make_rows(const dialect::table& sql, driver::session& on, std::span<const attempt> batch,
               const driver::limits& until) {
  run_to_make(sql, dialect::verb::make, on, names_of(batch), until);
}

}  // namespace rowlock::inline v1::strategies
