#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/guarded.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/postgresql/session.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

/// The statements that are sent in callers' transactions and may be prepared in their sessions.
enum class enlisted_statement : std::uint8_t { take_vacant, take, pin, count };

/// The client's knowledge of a caller's session. All are hints: a wrong one costs a round trip.
struct caller_session {
  bool was_used = false;         ///< a prepared statement will be used again, then
  bool reads_committed = false;  ///< a transaction of it was READ COMMITTED
  bool keeps_snapshots = false;  ///< a transaction of it was not
  bool forgets = false;          ///< a statement that was prepared in it was missing later
  std::bitset<static_cast<std::size_t>(enlisted_statement::count)> prepared{};
};

/// The callers' sessions, by the server's number.
class caller_sessions {
 public:
  caller_session find(std::int64_t number) {
    const auto all = known_.lock();
    const auto found = all->find(number);
    return found == all->end() ? caller_session{} : found->second;
  }

  /// Nothing is kept for a session whose number is not known (0).
  template <class Change>
  void note(std::int64_t number, Change change) {
    if (number == 0) return;
    const auto all = known_.lock();
    if (all->size() >= most && !all->contains(number)) all->clear();
    change((*all)[number]);
  }

 private:
  static constexpr std::size_t most = 1024;
  base::guarded<std::unordered_map<std::int64_t, caller_session>> known_;
};

class postgresql_enlisted final : public enlisted_transaction {
 public:
  /// All arguments must outlive it. `may_prepare`: the caller's session is one session of the server, as far as the
  /// client knows.
  postgresql_enlisted(caller_transaction& tx, placed_texts& texts, caller_sessions& sessions, bool may_prepare)
      : tx_{tx}, texts_{texts}, sessions_{sessions}, may_prepare_{may_prepare} {}

  bool takes_snapshot() override;
  std::int64_t session() const override { return tx_.session(); }
  std::optional<std::int64_t> take_vacant(const enlisted_target& at, std::string_view note) override;
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool begin_optimistically(std::string_view installation) override;
  void end_optimistically() override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  class savepoint;
  class brief_waits;
  using take_arguments = std::array<argument, 4>;
  enum class sending : std::uint8_t { whole, preparing, by_name };

  lock_view take_waiting(const take_arguments& asked, duration wait);
  lock_view taken(const row& found);
  void note_isolation(const cell& isolation);

  std::vector<row> begin_with(enlisted_statement which, std::span<const argument> asked);
  std::vector<row> send_together(enlisted_statement which, std::span<const argument> asked, sending how);
  std::vector<row> send_apart(enlisted_statement which, std::span<const argument> asked, sending how);
  sending sending_of(enlisted_statement which);
  const std::string& text_of(enlisted_statement which) const;
  std::string preparation(enlisted_statement which) const;
  std::string execution(enlisted_statement which, std::span<const argument> asked, sending how) const;
  void note_sent(enlisted_statement which, sending how);
  bool note_failed(enlisted_statement which, sending how, std::string_view sqlstate);

  caller_transaction& tx_;
  placed_texts& texts_;
  caller_sessions& sessions_;
  const bool may_prepare_;
};

}  // namespace rowlock::inline v1::driver
