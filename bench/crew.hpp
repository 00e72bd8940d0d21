#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "orders.hpp"
#include "worker_process.hpp"

namespace bench {

/// Workers with the same orders, all of them ready.
class crew {
 public:
  crew(const orders& what, std::size_t size);
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  worker_process& operator[](std::size_t number) { return members_[number]; }
  std::vector<pid_t> ids() const;

  /// Tells all of them, and gives what each answered.
  std::vector<answer> ask(std::string_view what);

 private:
  std::deque<worker_process> members_;
};

}  // namespace bench
