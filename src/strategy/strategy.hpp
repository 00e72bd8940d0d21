#pragma once

#include <rowlock/fencing_token.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/recent_names.hpp"
#include "core/identity.hpp"
#include "core/sharing.hpp"
#include "store/inspection.hpp"

namespace rowlock::inline v1::strategies {

/// One attempt to acquire a name, as it is sent to the database. Views are valid during the call.
struct acquire_args {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view acquisition;
  std::string_view note;
  duration lease{};
  std::string_view liveness{};  ///< of the client, if the lock has no lease
  fencing_token seen{};         ///< the version for a compare-and-set; of an attempt in turn, the version seen free
  /// For a database that checks the queue in the same statement: the own ticket, and the ticket before which others
  /// come first.
  struct queue_position {
    core::ticket_number ticket = core::ticket_number::none;
    core::ticket_number before = core::ticket_number::last;
    duration patience{};  ///< zero: all of those tickets count; otherwise only sets that insist
  };
  std::optional<queue_position> queued{};
  core::sharing share{};  ///< for strategies::share

  static constexpr auto texts() {
    return std::array{&acquire_args::name,        &acquire_args::owner, &acquire_args::thread,
                      &acquire_args::acquisition, &acquire_args::note,  &acquire_args::liveness};
  }
};

enum class verdict : std::uint8_t {
  granted,
  busy,
  behind,  ///< it looks free, but others have come before
  inconclusive
};
struct answer {
  verdict what = verdict::inconclusive;
  fencing_token token{};
  std::optional<duration> left{};  ///< of the lease of this client or the holder; absent: held without one
  // About the queue:
  bool is_behind = false;
  bool has_ticket = true;  ///< the own ticket still exists
  bool has_left = false;   ///< granted, and the own ticket is already deleted
  // About the holder, if the statement answers it:
  bool is_shared = false;
  std::optional<bool> is_marked{};  ///< the row says that a client waits
  std::string holding{};            ///< the acquisition
  fencing_token held_as{};

  /// It is free, but a client that has not looked at the queue does not acquire it.
  bool is_waited_for() const noexcept { return what == verdict::busy && left && *left <= duration::zero(); }
};

/// A lock whose row names its holder. All of them are renewed and released alike: store/leases.hpp.
struct way {
  sheets::verb verb;
  enum class look : std::uint8_t { never, after_a_refusal, always } looks;
};
/// A lease, decided by the unique index on the name: the holder has inserted the row, or taken over a vacant or expired
/// one. If a refused try keeps the row locked during the statement, a name is tried without a look only if it was not
/// refused lately. So a crowd that keeps trying cannot lock out the holder's renewals.
inline constexpr way unique_index{.verb = sheets::verb::acquire, .looks = way::look::after_a_refusal};
/// A lease, taken by reading the row and changing it only if it still has the version that was read. Of two clients
/// that read the same version one changes it; the other gets no answer and has to read again. The compare-and-set also
/// tests whether the row is free: a lease that had expired when it was read, and that only its holder has renewed
/// since, has the same version.
inline constexpr way version_cas{.verb = sheets::verb::compare_and_set, .looks = way::look::always};
/// for_update for databases without row locks: the row is held without a lease and names a file that shows other
/// clients that this client is alive. Renewing it tests whether it is still held.
inline constexpr way liveness_rows{.verb = sheets::verb::hold_while_alive, .looks = way::look::never};

/// Acquires names in that way.
class algorithm {
 public:
  explicit algorithm(way how) noexcept : how_{how} {}

  /// One answer for each request, in their order. A batch contains a name at most once.
  std::vector<answer> acquire(const store::access& db, std::span<const acquire_args> batch) const;

 private:
  bool remembers_refusals(const store::access& db) const;
  bool looks_first(const store::access& db, std::span<const acquire_args> batch) const;
  std::vector<answer> look_and_try(const store::access& db, std::span<const acquire_args> batch) const;
  std::vector<answer> try_rows(const store::access& db, std::span<const acquire_args> batch) const;
  std::vector<answer> try_existing(const store::access& db, std::span<const acquire_args> batch) const;

  way how_;
  mutable base::recent_names refused_;
  mutable base::vacant_names granted_;  ///< at the last try: so the row exists, and will be vacant
};

/// A transaction that remains open and keeps the row locked. Each lock has a session of its own.
///
///   idle --acquire: granted--> holding --release--> idle
///   after anything that throws the session must be closed, which ends the transaction too
class for_update {
 public:
  answer acquire(const store::access& db, const acquire_args& what) const;
  /// Shows the server that the holder is alive.
  static void beat(const store::access& db, std::string_view name);
  /// `acquisition` identifies the client that releases; other clients are notified if the database can.
  static void release(const store::access& db, std::string_view name, std::string_view acquisition);

 private:
  mutable base::recent_names refused_;
};

/// Runs a verb that answers as verb::acquire does. No row: inconclusive.
std::vector<answer> try_all(const store::access& db, sheets::verb how, std::span<const acquire_args> batch);

/// The row of every name, if there is one.
std::vector<std::optional<store::row_state>> look_at_all(const store::access& db, std::span<const acquire_args> batch);

/// Acquires the name together with others that share it. With the version of the row that was seen with the queue, that
/// version must be unchanged; without one, it is acquired only if no client waits. Inconclusive: it is not acquired.
/// Busy: another transaction keeps the row locked. If several requests ask for one name at once, each must accept the
/// others.
std::vector<answer> share(const store::access& db, std::span<const acquire_args> batch);
/// The same for any names, without those whose rows others have locked: they are inconclusive.
std::vector<answer> share_skipping(const store::access& db, std::span<const acquire_args> batch);

/// The answer about several names. Busy: all of them, or the one that is held, as far as it is known.
struct answer_of_several {
  answer what{};
  std::size_t which = 0;          ///< the one that is granted, or the reason of the refusal
  std::vector<answer> granted{};  ///< the answers for all of them
};
/// Acquires, by a lease, the first of these names that is free and has no waiter.
answer_of_several take_first_free(const store::access& db, std::span<const acquire_args> batch);
/// Acquires all of these names by a lease, or none: each has no waiter, or has the version that was seen.
answer_of_several take_all(const store::access& db, std::span<const acquire_args> batch);

/// Runs a verb that may make the row of a name. If another client makes it meanwhile, and keeps it in a transaction,
/// there is no row in the answer.
store::records run_to_make(const store::access& db, sheets::verb how, std::span<const store::arguments> requests);

/// Makes a vacant row for each of these names that has none.
void make_rows(const store::access& db, std::span<const acquire_args> batch);

}  // namespace rowlock::inline v1::strategies
