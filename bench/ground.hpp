#pragma once

#include <rowlock/options.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure.hpp"
#include "server.hpp"

namespace bench {

/// Fresh tables, as long as `place` is kept.
struct ground {
  std::shared_ptr<const void> place;
  server at;
  std::string prefix;

  rowlock::client_options options() const { return {.application = application, .table_prefix = prefix}; }
  std::string text(const std::string& of) const;
};

using make_ground = std::function<ground()>;

/// Rows of names that nobody has had for two hours: old/1 and so on.
void add_old_rows(const ground& to, std::size_t rows);

/// A case that is measured as a whole.
bench_case whole_case(std::string name, const std::string& database, std::size_t threads,
                      std::vector<std::string> subjects, std::function<std::vector<measurement>(bool)> measure);

/// A table of old rows: cycles beside its sweep, and how long it takes to be rid of them.
std::vector<bench_case> sweep_cases(const std::string& database, const make_ground& make);

/// Many leases of one client, and a name in a large table.
std::vector<bench_case> lease_cases(const std::string& database, const make_ground& make);

/// Threads beside coroutines, by one client.
std::vector<bench_case> async_cases(const std::string& database, const make_ground& make);

/// What a held lock, a waiting thread and a pending call need of the memory of a process.
std::vector<bench_case> memory_cases(const std::string& database, const make_ground& make);

/// What a cycle cannot be faster than: a round trip, a commit, the disk.
std::vector<bench_case> part_cases(const std::string& database, const make_ground& make);

}  // namespace bench
