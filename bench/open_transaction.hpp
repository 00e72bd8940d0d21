#pragma once

#include <rowlock/rowlock.hpp>

namespace bench {

/// The transaction that is open on a connection, whichever driver's it is.
class open_transaction {
 public:
  open_transaction() = default;
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  virtual ~open_transaction() = default;

  /// rowlock::lock_in
  virtual void lock(rowlock::client& locks, const rowlock::lock_name& name) = 0;
  /// rowlock::confirm
  virtual void prove(const rowlock::held_lock& held) = 0;
};

/// For what rowlock takes as a transaction. To be used where the header for its driver was included.
template <class Handle>
class transaction_on final : public open_transaction {
 public:
  explicit transaction_on(Handle tx) : tx_{tx} {}

  void lock(rowlock::client& locks, const rowlock::lock_name& name) override { lock_in(tx_, locks, name); }
  void prove(const rowlock::held_lock& held) override { confirm(tx_, held); }

 private:
  Handle tx_;
};

}  // namespace bench
