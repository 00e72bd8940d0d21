#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crew.hpp"
#include "measure.hpp"
#include "server.hpp"

namespace bench {

/// Where the lock of a contestant is for as long as this object lives: in tables of its own, with its row.
class arena {
 public:
  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  virtual ~arena() = default;

  /// The same orders, with the place filled in.
  virtual orders here(orders what) const = 0;
};

/// One way of getting a lock that others have.
struct contestant {
  std::string name;  ///< begins with "raw ", "rowlock " or what else there is
  orders what{};
};

/// A case whose subjects are processes that want one lock. The first is the one that the others are compared with.
struct contest {
  std::string name;
  std::string database;
  std::size_t processes = 2;
  std::vector<contestant> subjects{};
  std::function<std::unique_ptr<arena>()> open_arena{};
  /// What the database counts; empty where it cannot and the workers have to.
  std::function<std::unique_ptr<observer>()> observe{};
  /// One measurement for each subject, in their order.
  std::vector<measurement> (*measure)(const contest& what, bool is_quick) = nullptr;
};

/// `processes` take the lock and let it go as fast as they can. The times are those of waiting for it.
std::vector<measurement> measure_rush(const contest& what, bool is_quick);

/// One of two has the lock for 20 to 60 ms, the other waits for it, and so on in turn. The times are those from the
/// call that lets go to the end of the call that takes; a cycle is that alone.
std::vector<measurement> measure_handovers(const contest& what, bool is_quick);

/// One has the lock by a lease that it does not renew, and sends nothing; another waits, for 60 s or 1 s. A cycle is a
/// second of that, of which only the census tells.
std::vector<measurement> measure_waiting(const contest& what, bool is_quick);

}  // namespace bench
