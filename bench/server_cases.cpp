#include "server_cases.hpp"

#include <utility>

#include "rowlock_subjects.hpp"
#include "server_census.hpp"
#include "server_raw.hpp"
#include "server_steps.hpp"
#include "server_tables.hpp"

namespace bench {
namespace {

constexpr auto strategy = rowlock::strategy::unique_index;

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

rowlock::client_options with(const std::string& prefix, bool durable_release) {
  return {.application = application, .durable_release = durable_release, .table_prefix = prefix};
}

named_subject handles(const std::string& name, const shared_server& at, bool durable_release) {
  return in_tables(name, at, [durable_release](const server& on, const std::string& prefix) {
    return make_rowlock_handles(on.url, strategy, with(prefix, durable_release));
  });
}

named_subject mutexes(const shared_server& at) {
  return in_tables("rowlock mutex", at, [](const server& on, const std::string& prefix) {
    return make_rowlock_mutexes(on.url, strategy, with(prefix, false));
  });
}

named_subject session_locks(const shared_server& at) {
  return {.name = at->session_lock.name, .make = [at](const auto& /*folder*/) { return make_session_locks(*at); }};
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
          .count = [at](const auto& make, std::size_t lanes) { return count_on(*at, make, lanes); }};
}

bench_case cycle(std::string name, const shared_server& at, std::size_t threads) {
  std::vector<named_subject> subjects{durable_raw(at), handles("rowlock unique_index", at, false), mutexes(at),
                                      session_locks(at)};
  if (!at->relaxed_vacate.empty()) {
    subjects.insert(subjects.begin() + 1, raw("raw upsert+update, release not waiting for the disk", at,
                                              raw_release::not_waiting_for_the_disk));
    subjects.insert(subjects.begin() + 3, handles("rowlock unique_index, durable release", at, true));
  }
  return case_of(std::move(name), at, threads, std::move(subjects));
}

bench_case batch(const shared_server& at) {
  constexpr std::size_t size = 32;
  return case_of("cycle, 1 thread, batch of 32", at, 1,
                 {durable_raw(at), steps("rowlock unique_index, 32 names one by one", at, 1),
                  steps("rowlock unique_index, 32 names in a batch", at, size)});
}

}  // namespace

std::vector<bench_case> cases_on(const shared_server& at) {
  return {cycle("cycle, 1 thread, uncontended", at, 1), cycle("cycle, 2 threads, distinct names", at, 2),
          cycle("cycle, 8 threads, distinct names", at, 8), batch(at)};
}

}  // namespace bench
