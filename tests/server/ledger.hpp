#pragma once

#include <rowlock/fencing_token.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/time.hpp"

namespace rowlock::test {

/// Who believes in a name until when, and the latest token that anybody was given.
class ledger {
 public:
  explicit ledger(std::size_t names) : entries_(names) {}

  /// A grant is believed in from now on, if there is time left; once more after a renewal.
  void enter(std::size_t name, fencing_token token, base::instant until) {
    entry& e = entries_[name];
    const std::lock_guard lock{e.mutex};
    const auto now = base::now();
    if (until <= now) return;
    if (token == e.token) {
      e.until = until;
      return;
    }
    if (e.until > now) ++double_grants_;
    if (token < e.token) ++tokens_out_of_order_;
    e.until = until;
    e.token = token;
    ++grants_;
  }
  /// Its holder lets go; what was sent before that counts no more.
  void leave(std::size_t name, fencing_token token) {
    entry& e = entries_[name];
    const std::lock_guard lock{e.mutex};
    if (e.token == token) e.until = base::instant::min();
  }
  int double_grants() const { return double_grants_; }
  int tokens_out_of_order() const { return tokens_out_of_order_; }
  int grants() const { return grants_; }

 private:
  struct entry {
    std::mutex mutex;
    base::instant until = base::instant::min();
    fencing_token token;
  };
  std::vector<entry> entries_;
  std::atomic<int> double_grants_{0};
  std::atomic<int> tokens_out_of_order_{0};
  std::atomic<int> grants_{0};
};

}  // namespace rowlock::test
