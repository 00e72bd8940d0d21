#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server.hpp"
#include "subject.hpp"

namespace bench {

/// Fresh ones on a server, which they may not outlive.
class tables {
 public:
  explicit tables(const server& at);
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;
  ~tables();

  /// What their names begin with.
  const std::string& prefix() const noexcept { return prefix_; }

 private:
  const server& server_;
  std::string prefix_;
};

/// Makes a subject whose tables begin with the prefix that `make` is given. They are made here, fresh, and dropped when
/// the subject is gone.
std::unique_ptr<subject> in_own_tables(const server& at,
                                       const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make);

}  // namespace bench
