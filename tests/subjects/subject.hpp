#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "history/player.hpp"
#include "process/roles.hpp"

// Locks as programs make them, with rowlock and without, for the same faults and the same judge: docs/evidence.md.

namespace rowlock::test {

/// Leases and holds are longer where what is disturbed is away for a second: those who play have `long_holds` in their
/// environment.
inline std::chrono::milliseconds lease_of_subjects() {
  return std::chrono::milliseconds{std::getenv(long_holds) != nullptr ? 4000 : 800};
}
inline std::chrono::microseconds longest_hold_of_subjects() { return lease_of_subjects() / 2; }
/// So often a lock that ends with its session asks whether that is there.
inline constexpr std::chrono::milliseconds ping_of_subjects{100};
/// Of rowlock's guard.
inline constexpr std::chrono::seconds quarantine_of_subjects{4};
/// All that are locked.
inline constexpr const char* names_of_subjects[] = {"a", "b", "c"};

/// A lock of one thread. Every member but is_held() throws std::exception if the server does not answer.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  /// Tries once.
  virtual bool try_acquire(const std::string& name) = 0;
  /// Whether its program still relies on it: a program asks before each step of its work.
  virtual bool is_held() noexcept = 0;
  virtual void release() = 0;
  /// The fencing token; 0: the lock has none.
  virtual std::int64_t token() const { return 0; }
};

struct subject_kind {
  std::string_view name;
  std::string_view server;                  ///< postgresql, pgbouncer, mysql or redis
  void (*prepare)(const std::string& url);  ///< makes what the lock needs, once
  std::unique_ptr<subject> (*connect)(const std::string& url);
  bool has_tokens = false;
  bool excludes = true;  ///< where nothing fails
};

/// The kinds that this build has.
const std::vector<subject_kind>& subjects();
std::ostream& operator<<(std::ostream& out, const subject_kind& kind);

std::vector<subject_kind> rowlock_subjects();
std::vector<subject_kind> postgresql_subjects();
std::vector<subject_kind> mysql_subjects();
std::vector<subject_kind> redis_subjects();

/// For subjects: how long ago something was.
class since {
 public:
  void begin() { at_ = std::chrono::steady_clock::now(); }
  bool is_within(std::chrono::milliseconds time) const { return std::chrono::steady_clock::now() - at_ < time; }

 private:
  std::chrono::steady_clock::time_point at_{};
};

/// A connection for a subject: made when it is needed, and again after an error. Nothing is repeated.
template <class Connection, class Address>
class lasting {
 public:
  explicit lasting(Address to) : to_{std::move(to)} {}

  template <class Call>
  auto with(Call call) try {
    if (!connection_) connection_.emplace(to_);
    return call(*connection_);
  } catch (const std::exception&) {
    connection_.reset();
    throw;
  }

 private:
  const Address to_;
  std::optional<Connection> connection_;
};

/// An owner of one lock, unique in all processes.
inline std::string new_owner() {
  static std::atomic<int> last{0};
  return std::to_string(lasting_number()) + "-" + std::to_string(++last);
}

inline void prepare_nothing(const std::string& /*url*/) {}

template <class Subject>
std::unique_ptr<subject> connect_subject(const std::string& url) {
  return std::make_unique<Subject>(url);
}

}  // namespace rowlock::test
