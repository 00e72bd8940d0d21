#pragma once

#include <rowlock/options.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "measure.hpp"
#include "server.hpp"

namespace bench {

// --- rowlock

/// client::acquire and held_lock::release; every lane has a name of its own, and all share one client.
std::unique_ptr<subject> make_rowlock_handles(const std::string& url, rowlock::lock_options how,
                                              rowlock::client_options options = {});
/// The same with client::acquire_shared.
std::unique_ptr<subject> make_rowlock_shares(const std::string& url, rowlock::lock_options how,
                                             rowlock::client_options options = {});
/// The same with mutex::lock and mutex::unlock.
std::unique_ptr<subject> make_rowlock_mutexes(const std::string& url, rowlock::lock_options how,
                                              rowlock::client_options options = {});

/// client::acquire and held_lock::release of names that are drawn among old/1 to old/`names`.
std::unique_ptr<subject> make_rowlock_random_handles(const std::string& url, std::size_t names,
                                                     rowlock::client_options options);

/// The steps of `unique_index` on a session, below everything that a client does around them: 32 names, `at_once` of
/// them in each batch that is acquired and then released.
std::unique_ptr<subject> make_steps(const server& at, const std::string& prefix, std::size_t at_once);

// --- by hand

/// A random id of a single attempt, as rowlock draws them.
class acquisition {
 public:
  void draw() {
    constexpr const char* digits = "0123456789abcdef";
    for (std::size_t at = 0; at < text_.size(); at += 16) {
      auto bits = random_();
      for (std::size_t digit = 0; digit < 16; ++digit, bits >>= 4) text_[at + digit] = digits[bits & 15];
    }
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_ = std::string(32, '0');
  std::mt19937_64 random_{std::random_device{}()};
};

// For each strategy what its cycle cannot do without, written by hand: prepared, and every commit durable unless it is
// asked otherwise.

enum class raw_release : std::uint8_t { durable, not_waiting_for_the_disk };

/// `unique_index`: an upsert that takes a vacant or expired row, and an update that vacates it.
std::unique_ptr<subject> make_raw(const server& at, const std::string& prefix, raw_release how);

/// `for_update`: a transaction that locks a row, raises its version and commits.
std::unique_ptr<subject> make_raw_transactions(const server& at, const std::string& prefix);

/// `version_cas`: a read of the version, an update of the row that has it still, and an update that vacates it.
std::unique_ptr<subject> make_raw_compare_and_set(const server& at, const std::string& prefix, raw_release how);

/// What the server has of its own: no row, no disk, no expiry, and a connection for every lock.
std::unique_ptr<subject> make_session_locks(const server& at);
std::unique_ptr<subject> make_shared_session_locks(const server& at);

/// The same with one name for all lanes.
std::unique_ptr<subject> with_one_name(std::unique_ptr<subject> of);

// On SQLite, for the C interface.

/// The two statements that a cycle of `unique_index` cannot do without, written by hand for the C interface: an upsert
/// that takes a vacant or expired row, and an update that vacates it.
std::unique_ptr<subject> make_sqlite_raw(const std::filesystem::path& folder);

/// The same for `version_cas`: a read of the version, an update of the row that has it still, and an update that
/// vacates it.
std::unique_ptr<subject> make_sqlite_raw_compare_and_set(const std::filesystem::path& folder);

// --- in transactions

// Cycles that are one transaction of the caller's, which changes a row of its own. By hand all statements are prepared;
// rowlock and they share the connection and its driver.

using make_transactions = std::unique_ptr<subject> (*)(const server& at, const std::string& prefix);

/// Nothing else.
std::unique_ptr<subject> make_raw_writing(const server& at, const std::string& prefix);
/// Locks the row of the lock before, where rows can be locked, and raises its version.
std::unique_ptr<subject> make_raw_locking(const server& at, const std::string& prefix);
/// rowlock::lock_in before.
std::unique_ptr<subject> make_lock_in(const server& at, const std::string& prefix);
/// rowlock::confirm before, of a lease that is held all the time.
std::unique_ptr<subject> make_confirm(const server& at, const std::string& prefix);

/// How many statements a cycle gives to the caller's connection.
double count_on_own_connections(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                                std::size_t cycles);

// --- elsewhere

#ifdef ROWLOCK_WITH_HIREDIS
/// The lock of Redis's own manual, on those servers that ROWLOCK_BENCH_REDIS_URL and ROWLOCK_BENCH_DURABLE_REDIS_URL
/// name, redis://:password@host:port: SET NX PX takes it, a script compares its value and deletes it. Every lane has a
/// name and a connection of its own.
std::vector<named_subject> redis_subjects();
#endif

}  // namespace bench
