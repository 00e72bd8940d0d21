#include <rowlock/options.hpp>

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "cases.hpp"
#include "ground.hpp"
#include "subjects.hpp"

namespace bench {
namespace {

using rowlock::strategy;

/// By for_update each of them keeps a connection.
constexpr std::size_t most_threads = 8;

/// What is enough for hundreds of threads.
constexpr std::size_t few_connections = 4;

/// Whoever makes a subject keeps its server.
using shared_server = std::shared_ptr<const server>;

template <class Make>
named_subject in_tables(const std::string& name, const shared_server& at, Make make) {
  return {.name = name, .make = [at, make](const auto& /*folder*/) {
            return in_own_tables(*at, [&](const std::string& prefix) { return make(*at, prefix); });
          }};
}

named_subject raw(const std::string& name, const shared_server& at, raw_release how) {
  return in_tables(name, at, [how](const server& on, const std::string& prefix) { return make_raw(on, prefix, how); });
}

named_subject raw_transactions(const shared_server& at) {
  return in_tables("raw BEGIN; SELECT … FOR UPDATE; UPDATE; COMMIT", at, make_raw_transactions);
}

named_subject raw_compare_and_set(const std::string& name, const shared_server& at, raw_release how) {
  return in_tables(name, at, [how](const server& on, const std::string& prefix) {
    return make_raw_compare_and_set(on, prefix, how);
  });
}

rowlock::client_options with(const std::string& prefix) {
  return {.application = application, .held_transactions = most_threads, .table_prefix = prefix};
}

named_subject handles(const std::string& name, const shared_server& at, const rowlock::lock_options& how,
                      const std::function<void(rowlock::client_options&)>& change = {}) {
  return in_tables(name, at, [how, change](const server& on, const std::string& prefix) {
    auto options = with(prefix);
    if (change) change(options);
    return make_rowlock_handles(on.url, how, std::move(options));
  });
}

named_subject handles(strategy by, const shared_server& at) {
  return handles(fmt::format("rowlock {}", to_string(by)), at, {.strategy = by});
}

named_subject durable_handles(strategy by, const shared_server& at) {
  return handles(fmt::format("rowlock {}, durable release", to_string(by)), at, {.strategy = by},
                 [](rowlock::client_options& options) { options.durable_release = true; });
}

named_subject handles_on_few_connections(const shared_server& at) {
  return handles(fmt::format("rowlock unique_index, {} connections", few_connections), at, {},
                 [](rowlock::client_options& options) { options.connections = few_connections; });
}

named_subject mutexes(const shared_server& at) {
  return in_tables("rowlock mutex", at, [](const server& on, const std::string& prefix) {
    return make_rowlock_mutexes(on.url, {}, with(prefix));
  });
}

named_subject session_locks(const shared_server& at) {
  return {.name = at->session_lock.name, .make = [at](const auto& /*folder*/) { return make_session_locks(*at); }};
}

named_subject with_one_name(named_subject of) {
  auto make = std::move(of.make);
  of.make = [make = std::move(make)](const auto& folder) { return with_one_name(make(folder)); };
  return of;
}

named_subject steps(const std::string& name, const shared_server& at, std::size_t batch) {
  return in_tables(name, at,
                   [batch](const server& on, const std::string& prefix) { return make_steps(on, prefix, batch); });
}

named_subject durable_raw(const shared_server& at) { return raw("raw upsert+update", at, raw_release::durable); }

bench_case case_of(std::string name, const shared_server& at, std::size_t threads,
                   std::vector<named_subject> subjects) {
  return {.name = std::move(name),
          .database = at->database,
          .threads = threads,
          .subjects = std::move(subjects),
          .count = [at](const auto& make, std::size_t lanes, std::size_t cycles) {
            return count_on(*at, make, lanes, cycles);
          }};
}

/// Those that Redis makes; none where there is no Redis.
std::vector<named_subject> redis_peers() {
#ifdef ROWLOCK_WITH_HIREDIS
  return redis_subjects();
#else
  return {};
#endif
}

bench_case cycle(const shared_server& at, std::size_t threads) {
  std::vector<named_subject> subjects{durable_raw(at)};
  if (!at->relaxed_vacate.empty())
    subjects.push_back(raw("raw upsert+update, asynchronous release", at, raw_release::not_waiting_for_the_disk));
  subjects.push_back(handles(strategy::unique_index, at));
  if (threads > few_connections) subjects.push_back(handles_on_few_connections(at));
  if (!at->relaxed_vacate.empty()) subjects.push_back(durable_handles(strategy::unique_index, at));
  if (threads <= most_threads) subjects.push_back(mutexes(at));
  subjects.push_back(session_locks(at));
  for (auto& each : redis_peers()) subjects.push_back(std::move(each));
  return case_of(fmt::format("cycle, {} thread{}, distinct names", threads, threads == 1 ? "" : "s"), at, threads,
                 std::move(subjects));
}

bench_case hot_cycle(const shared_server& at) {
  constexpr std::size_t threads = 32;
  return case_of(fmt::format("hot, {} threads of one process, one name", threads), at, threads,
                 {with_one_name(session_locks(at)), with_one_name(raw_transactions(at)),
                  with_one_name(handles("rowlock unique_index", at, {})),
                  with_one_name(handles("rowlock unique_index, fifo", at, {.fairness = rowlock::fairness::fifo}))});
}

bench_case shared_cycle(const shared_server& at, std::size_t threads) {
  const auto shares = [&](const std::string& name) {
    return in_tables(name, at, [](const server& on, const std::string& prefix) {
      return make_rowlock_shares(on.url, {}, with(prefix));
    });
  };
  std::vector<named_subject> subjects{handles("rowlock unique_index, distinct names", at, {}),
                                      shares("rowlock shared, distinct names"),
                                      with_one_name(shares("rowlock shared, one name"))};
  if (const auto name = at->shared_session_lock.name; !name.empty())
    subjects.push_back(with_one_name({.name = name + ", one name", .make = [at](const auto& /*folder*/) {
                                        return make_shared_session_locks(*at);
                                      }}));
  return case_of(fmt::format("shared, {} thread{}", threads, threads == 1 ? "" : "s"), at, threads,
                 std::move(subjects));
}

bench_case for_update_cycle(std::string name, const shared_server& at, std::size_t threads) {
  return case_of(std::move(name), at, threads, {raw_transactions(at), handles(strategy::for_update, at)});
}

bench_case version_cas_cycle(std::string name, const shared_server& at, std::size_t threads) {
  std::vector<named_subject> subjects{raw_compare_and_set("raw SELECT + UPDATE + UPDATE", at, raw_release::durable),
                                      handles(strategy::version_cas, at)};
  if (!at->relaxed_vacate.empty()) {
    subjects.insert(subjects.begin() + 1, raw_compare_and_set("raw SELECT + UPDATE + UPDATE, asynchronous release", at,
                                                              raw_release::not_waiting_for_the_disk));
    subjects.push_back(durable_handles(strategy::version_cas, at));
  }
  return case_of(std::move(name), at, threads, std::move(subjects));
}

bench_case transaction_case(std::string name, const shared_server& at, std::vector<named_subject> subjects) {
  auto made = case_of(std::move(name), at, 1, std::move(subjects));
  made.count = [at](const auto& make, std::size_t lanes, std::size_t cycles) -> census {
    return {.connections = count_on(*at, make, lanes, cycles).connections,
            .statements_per_cycle = count_on_own_connections(make, lanes, cycles)};
  };
  return made;
}

bench_case lock_in_cycle(const shared_server& at) {
  return transaction_case(
      "cycle lock_in, 1 thread", at,
      {in_tables("raw BEGIN; SELECT … FOR UPDATE; UPDATE version; UPDATE own; COMMIT", at, make_raw_locking),
       in_tables("raw BEGIN; UPDATE own; COMMIT", at, make_raw_writing),
       in_tables("rowlock lock_in", at, make_lock_in)});
}

bench_case confirm_cycle(const shared_server& at) {
  return transaction_case("cycle confirm, 1 thread", at,
                          {in_tables("raw BEGIN; UPDATE own; COMMIT", at, make_raw_writing),
                           in_tables("rowlock confirm", at, make_confirm)});
}

bench_case batch(const shared_server& at) {
  constexpr std::size_t size = 32;
  return case_of("cycle, 1 thread, batch of 32", at, 1,
                 {durable_raw(at), steps("rowlock unique_index, 32 names one by one", at, 1),
                  steps("rowlock unique_index, 32 names in a batch", at, size)});
}

ground fresh_tables(const shared_server& at) {
  auto place = std::make_shared<tables>(*at);
  const auto prefix = place->prefix();
  return {.place = std::move(place), .at = *at, .prefix = prefix};
}

}  // namespace

std::vector<bench_case> cases_on(const shared_server& at) {
  std::vector<bench_case> all{cycle(at, 1),
                              cycle(at, 8),
                              cycle(at, 64),
                              cycle(at, 256),
                              hot_cycle(at),
                              shared_cycle(at, 1),
                              shared_cycle(at, 8),
                              shared_cycle(at, 64),
                              for_update_cycle("cycle for_update, 1 thread, uncontended", at, 1),
                              for_update_cycle("cycle for_update, 8 threads, distinct names", at, most_threads),
                              version_cas_cycle("cycle version_cas, 1 thread, uncontended", at, 1),
                              version_cas_cycle("cycle version_cas, 8 threads, distinct names", at, most_threads),
                              lock_in_cycle(at),
                              confirm_cycle(at),
                              batch(at)};
  for (const auto& some : {part_cases, async_cases, lease_cases, memory_cases, sweep_cases})
    for (auto& each : some(at->database, [at] { return fresh_tables(at); })) all.push_back(std::move(each));
  return all;
}

}  // namespace bench
