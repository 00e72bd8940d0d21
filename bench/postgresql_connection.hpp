#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace bench {

/// A connection by libpqxx as an application would use it: every statement is a transaction of its own.
class postgresql_connection {
 public:
  /// As the server lists it; the same for all of a process, whoever opens them: see postgresql_census.cpp.
  static constexpr const char* application = "rowlock_bench";

  explicit postgresql_connection(const std::string& url);
  postgresql_connection(const postgresql_connection&) = delete;
  postgresql_connection& operator=(const postgresql_connection&) = delete;
  ~postgresql_connection();

  /// By the simple protocol; the number in the first field of the last answer, 0 where there is none.
  long long execute(const std::string& sql);

  /// To be run by that name.
  void prepare(const std::string& name, const std::string& sql);
  /// How many rows came back. nullptr is NULL.
  std::size_t run(const std::string& name, std::span<const char* const> values);

 private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace bench
