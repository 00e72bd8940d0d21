#pragma once

#include <cstdint>

#include "runtime/client_impl.hpp"

namespace rowlock::inline v1::detail {

/// What somebody wants.
struct client_impl::wish {
  const lock_name& name;
  const lock_options& options;
  holder by;
  bool is_reentrant;
  runtime::asking* call = nullptr;                ///< nullptr: the client's own
  runtime::waiting_line::place* place = nullptr;  ///< of one who waits

  bool is_fair() const noexcept { return options.fairness == fairness::fifo; }
  std::int64_t ticket() const { return place == nullptr ? 0 : place->ticket_number(); }
  /// Who stands behind that need not be waited for.
  std::int64_t turn() const {
    const auto own = ticket();
    return own == 0 ? strategies::no_ticket : own;
  }
};

/// A place in the process's queue; its ticket goes with it, if it still has one.
class client_impl::queued {
 public:
  queued(client_impl& in, const lock_name& name) : place{in.line_, name}, in_{in}, name_{name} {}
  queued(const queued&) = delete;
  queued& operator=(const queued&) = delete;
  ~queued();

  runtime::waiting_line::place place;

 private:
  client_impl& in_;
  const lock_name& name_;
};

}  // namespace rowlock::inline v1::detail
