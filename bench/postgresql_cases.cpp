#include "postgresql_cases.hpp"

#include <utility>

#include "postgresql_batches.hpp"
#include "postgresql_census.hpp"
#include "postgresql_connection.hpp"
#include "postgresql_raw.hpp"
#include "postgresql_tables.hpp"
#include "rowlock_subjects.hpp"

namespace bench {
namespace {

constexpr auto strategy = rowlock::strategy::unique_index;

template <class Make>
named_subject in_tables(const std::string& name, const std::string& url, Make make) {
  return {.name = name, .make = [url, make](const auto& /*folder*/) { return in_own_tables(url, make); }};
}

named_subject raw(const std::string& url) {
  return in_tables("raw upsert+update", url,
                   [url](const std::string& prefix) { return make_postgresql_raw(url, prefix, raw_release::durable); });
}

named_subject relaxed_raw(const std::string& url) {
  return in_tables("raw upsert+update, release not waiting for the disk", url, [url](const std::string& prefix) {
    return make_postgresql_raw(url, prefix, raw_release::not_waiting_for_the_disk);
  });
}

rowlock::client_options with(const std::string& prefix, bool durable_release) {
  return {
      .application = postgresql_connection::application, .durable_release = durable_release, .table_prefix = prefix};
}

named_subject handles(const std::string& name, const std::string& url, bool durable_release) {
  return in_tables(name, url, [=](const std::string& prefix) {
    return make_rowlock_handles(url, strategy, with(prefix, durable_release));
  });
}

named_subject mutexes(const std::string& url) {
  return in_tables("rowlock mutex", url, [url](const std::string& prefix) {
    return make_rowlock_mutexes(url, strategy, with(prefix, false));
  });
}

named_subject advisory(const std::string& url) {
  return {.name = "pg_advisory_lock", .make = [url](const auto& /*folder*/) { return make_postgresql_advisory(url); }};
}

named_subject steps(const std::string& name, const std::string& url, std::size_t batch) {
  return in_tables(name, url, [=](const std::string& prefix) { return make_postgresql_steps(url, prefix, batch); });
}

bench_case case_of(std::string name, const std::string& url, std::size_t threads, std::vector<named_subject> subjects) {
  return {.name = std::move(name),
          .database = "postgresql",
          .threads = threads,
          .subjects = std::move(subjects),
          .count = [url](const auto& make, std::size_t lanes) { return count_postgresql(url, make, lanes); }};
}

bench_case cycle(std::string name, const std::string& url, std::size_t threads) {
  return case_of(std::move(name), url, threads,
                 {raw(url), relaxed_raw(url), handles("rowlock unique_index", url, false),
                  handles("rowlock unique_index, durable release", url, true), mutexes(url), advisory(url)});
}

bench_case batch(const std::string& url) {
  constexpr std::size_t size = 32;
  return case_of("cycle, 1 thread, batch of 32", url, 1,
                 {raw(url), steps("rowlock unique_index, 32 names one by one", url, 1),
                  steps("rowlock unique_index, 32 names in a batch", url, size)});
}

}  // namespace

std::vector<bench_case> postgresql_cases(const std::string& url) {
  return {cycle("cycle, 1 thread, uncontended", url, 1), cycle("cycle, 2 threads, distinct names", url, 2),
          cycle("cycle, 8 threads, distinct names", url, 8), batch(url)};
}

}  // namespace bench
