#pragma once

#include "transaction/caller.hpp"

namespace rowlock::test {

/// What callers by every driver have in common: each call is that of the driver's header, which comes before this one.
/// `Caller` has handle(), for which it locks, and where they are not the same connection() and enter(), in which the
/// transaction that a body is given becomes its own while what it returns lives.
template <class Caller>
class caller_by : public caller {
 public:
  transaction_lock lock_in(client& locks, const lock_name& name, const lock_in_options& options,
                           std::stop_token stop) override {
    return rowlock::lock_in(self().handle(), locks, name, options, std::move(stop));
  }
  std::optional<transaction_lock> try_lock_in(client& locks, const lock_name& name,
                                              const lock_in_options& options) override {
    return rowlock::try_lock_in(self().handle(), locks, name, options);
  }
  std::optional<transaction_lock> try_lock_in_for(client& locks, const lock_name& name, std::chrono::milliseconds wait,
                                                  const lock_in_options& options, std::stop_token stop) override {
    return rowlock::try_lock_in_for(self().handle(), locks, name, wait, options, std::move(stop));
  }
  void confirm(const held_lock& held) override { rowlock::confirm(self().handle(), held); }
  void confirm(const mutex& m) override { rowlock::confirm(self().handle(), m); }

  std::int64_t optimistically(client& locks, const lock_name& name, const counting_body& body,
                              const retry_options& options) override {
    const auto run = [&](auto&& tx, attempt which) {
      [[maybe_unused]] const auto in = self().enter(tx);
      return body(which);
    };
    return rowlock::optimistically(self().connection(), locks, name, run, options);
  }
  void optimistically_without_result(client& locks, const lock_name& name, const silent_body& body,
                                     const retry_options& options) override {
    const auto run = [&](auto&& tx) {
      [[maybe_unused]] const auto in = self().enter(tx);
      body();
    };
    rowlock::optimistically(self().connection(), locks, name, run, options);
  }

  decltype(auto) connection() { return self().handle(); }
  template <class Transaction>
  int enter(Transaction&& /*tx*/) {
    return 0;
  }

 private:
  Caller& self() { return static_cast<Caller&>(*this); }
};

}  // namespace rowlock::test
