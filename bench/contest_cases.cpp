#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <functional>
#include <random>
#include <string>
#include <utility>

#include "cases.hpp"
#include "testkit/temp_folder.hpp"

namespace bench {
namespace {

using rowlock::fairness;
using rowlock::strategy;

constexpr std::size_t crowd = 8;

void make_row(const orders& of) {
  auto locks = rowlock::client::connect(of.url, {.application = application, .table_prefix = of.prefix});
  locks.migrate();
  locks.acquire(of.lock).release();
}

class arena_on_server final : public arena {
 public:
  explicit arena_on_server(std::shared_ptr<const server> at) : server_{std::move(at)}, tables_{*server_} {
    make_row(here({}));
  }

  orders here(orders what) const override {
    what.url = server_->url;
    what.prefix = tables_.prefix();
    if (what.way == way::session_lock) what.lock = session_lock_;
    return what;
  }

 private:
  std::shared_ptr<const server> server_;
  tables tables_;
  std::string session_lock_ = fmt::format("{}", std::random_device{}());  // so that two benchmarks do not meet
};

class arena_in_file final : public arena {
 public:
  arena_in_file() { make_row(here({})); }

  orders here(orders what) const override {
    what.url = "sqlite:" + (folder_.path() / "own.db").string();
    what.prefix = "rowlock_";
    return what;
  }

 private:
  test::temp_folder folder_;
};

/// What the contests of one database have in common.
struct ring {
  std::string database;
  std::function<std::unique_ptr<arena>()> open_arena;
  std::function<std::unique_ptr<observer>()> observe{};
};

contest contest_in(const ring& where, std::string name, std::vector<contestant> subjects) {
  return {.name = std::move(name),
          .database = where.database,
          .subjects = std::move(subjects),
          .open_arena = where.open_arena,
          .observe = where.observe};
}

contestant leases(fairness how) {
  return {.name = fmt::format("rowlock unique_index{}", how == fairness::fifo ? ", fifo" : ""),
          .what = {.fairness = how}};
}

contestant by(strategy which) {
  return {.name = fmt::format("rowlock {}", to_string(which)), .what = {.strategy = which}};
}

contestant raw_transactions(const char* name) { return {.name = name, .what = {.way = way::transaction}}; }

contestant session_locks(const server& at) {
  return {.name = at.session_lock.name, .what = {.way = way::session_lock}};
}

contest rush(const ring& where, contestant raw, std::size_t processes) {
  auto made = contest_in(where, fmt::format("hot, {} processes, one name", processes),
                         {std::move(raw), leases(fairness::unfair), leases(fairness::fifo), by(strategy::for_update),
                          by(strategy::version_cas)});
  if (where.observe)
    made.subjects.push_back({.name = "raw upsert, again and again; update", .what = {.way = way::upsert}});
  made.processes = processes;
  made.measure = measure_rush;
  return made;
}

contest handovers(const ring& where, std::vector<contestant> beside) {
  for (auto& each : {leases(fairness::unfair), leases(fairness::fifo), by(strategy::for_update)})
    beside.push_back(each);
  auto made = contest_in(where, "wake, from one process to another", std::move(beside));
  made.measure = measure_handovers;
  return made;
}

contest waiting(const ring& where) {
  auto waiter = leases(fairness::unfair);
  waiter.what.lease_s = 600;
  waiter.what.renew = false;
  auto made = contest_in(where, "wake, a second of waiting for a lease", {std::move(waiter)});
  made.measure = measure_waiting;
  return made;
}

}  // namespace

std::vector<contest> contests_on(const std::shared_ptr<const server>& at) {
  const ring here{.database = at->database,
                  .open_arena = [at] { return std::make_unique<arena_on_server>(at); },
                  .observe = at->observe};
  const auto raw = raw_transactions("raw BEGIN; SELECT … FOR UPDATE; UPDATE; COMMIT");
  // First what little is sent: a server cleans up behind the others, and counts that too.
  return {waiting(here), handovers(here, {raw, session_locks(*at)}), rush(here, raw, 2), rush(here, raw, crowd)};
}

std::vector<contest> sqlite_contests() {
  const ring here{.database = "sqlite", .open_arena = [] { return std::make_unique<arena_in_file>(); }};
  return {waiting(here), handovers(here, {}),
          rush(here, raw_transactions("raw BEGIN IMMEDIATE; UPDATE; COMMIT"), crowd)};
}

}  // namespace bench
