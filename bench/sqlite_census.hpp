#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "subject.hpp"

namespace bench {

/// Counts what this process does with SQLite from now on, on connections that it opens from now on. One at a time.
class sqlite_watch {
 public:
  sqlite_watch();
  sqlite_watch(const sqlite_watch&) = delete;
  sqlite_watch& operator=(const sqlite_watch&) = delete;
  ~sqlite_watch();

  /// How many are open now.
  std::size_t connections() const;
  /// How many were started.
  std::size_t statements() const;
};

/// Counts while `make` makes a subject and it runs: the connections it opens and the statements it starts, whoever in
/// this process opens and starts them.
census count_sqlite(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads, std::size_t cycles);

}  // namespace bench
