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

/// What one attempt to acquire a name says to the database. Views are valid for the time of the call.
struct acquire_args {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view acquisition;
  std::string_view note;
  duration lease{};
  std::string_view liveness{};  ///< of the client, if the lock has no lease
  fencing_token seen{};         ///< the version that a compare-and-set goes by; of one in turn, where it was seen free
  /// For a database that checks the queue in the same statement: the own ticket, and up to which one others come first.
  struct queue_position {
    core::ticket_number ticket = core::ticket_number::none;
    core::ticket_number turn = core::ticket_number::last;
    duration patience{};  ///< zero: all of those others; else only sets that insist
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
  std::optional<duration> left{};  ///< of the lease, ours or the holder's; absent: held without one
  // About the queue:
  bool is_behind = false;
  bool has_ticket = true;  ///< the own ticket is still there
  bool has_left = false;   ///< granted, and the own ticket is deleted already
  // Of who has it, where the statement tells:
  bool is_shared = false;
  std::optional<bool> is_marked{};  ///< the row says that somebody waits
  std::string holding{};            ///< the acquisition
  fencing_token held_as{};

  /// It is free, but who does not know the queue does not get it.
  bool is_waited_for() const noexcept { return what == verdict::busy && left && *left <= duration::zero(); }
};

/// A lock that is a row which says who has it. Renewing and releasing are alike for all of them: store/leases.hpp.
struct way {
  sheets::verb verb;
  enum class look : std::uint8_t { never, after_a_refusal, always } looks;
};
/// A lease, decided by the unique index on the name: the holder has inserted the row, or taken over a vacant or expired
/// one. Where a refused try keeps the row locked for as long as it takes, a name is tried without a look only if it was
/// not refused lately: so a crowd that tries again and again cannot lock out the holder's renewals.
inline constexpr way unique_index{.verb = sheets::verb::acquire, .looks = way::look::after_a_refusal};
/// A lease, taken by reading the row and changing it only if it still has the version that was read. Of two that read
/// the same version one changes it; the other gets no answer and has to read again. The compare-and-set asks again
/// whether the row is free: a lease that had expired when it was read, and that nobody but its holder has renewed
/// since, has the same version.
inline constexpr way version_cas{.verb = sheets::verb::compare_and_set, .looks = way::look::always};
/// for_update for databases without row locks: the row is held without a lease and names a file that tells others that
/// the client lives. Renewing it asks whether it is still held.
inline constexpr way liveness_rows{.verb = sheets::verb::hold_while_alive, .looks = way::look::never};

/// Wins names in that way.
class algorithm {
 public:
  explicit algorithm(way how) noexcept : how_{how} {}

  /// One answer for each request, in their order. A batch holds a name at most once.
  std::vector<answer> acquire(const store::access& db, std::span<const acquire_args> batch) const;

 private:
  bool remembers_refusals(const store::access& db) const;
  bool looks_first(const store::access& db, std::span<const acquire_args> batch) const;
  std::vector<answer> look_and_try(const store::access& db, std::span<const acquire_args> batch) const;

  way how_;
  mutable base::recent_names refused_;
};

/// A transaction that stays open and keeps the row locked. Each lock has a session of its own.
///
///   idle --acquire: granted--> holding --release--> idle
///   after anything that throws the session must be closed, which ends the transaction too
class for_update {
 public:
  answer acquire(const store::access& db, const acquire_args& what) const;
  /// Tells the server that the holder is alive.
  static void beat(const store::access& db, std::string_view name);
  /// `acquisition` identifies the client that releases; others are notified where they can be.
  static void release(const store::access& db, std::string_view name, std::string_view acquisition);

 private:
  mutable base::recent_names refused_;
};

/// Runs a verb that answers as verb::acquire does. No row: inconclusive.
std::vector<answer> try_all(const store::access& db, sheets::verb how, std::span<const acquire_args> batch);

/// The row of every name, if there is one.
std::vector<std::optional<store::row_state>> look_at_all(const store::access& db, std::span<const acquire_args> batch);

/// The name is taken beside others who share it. Who has seen the queue says with which version of the row; else it is
/// taken only where nobody waits. Inconclusive: it is not. Busy: somebody keeps the row locked. Of several that ask at
/// once, for one name, none may mind the others.
std::vector<answer> share(const store::access& db, std::span<const acquire_args> batch);

/// What was answered about several names. Busy: all of them, or the one that is taken as far as it is known.
struct answer_of_several {
  answer what{};
  std::size_t which = 0;          ///< that is granted, or why none is
  std::vector<answer> granted{};  ///< of all of them
};
/// Takes the first of these names that is free, and that nobody waits for, by a lease.
answer_of_several take_first_free(const store::access& db, std::span<const acquire_args> batch);
/// Takes all of these names by a lease, or none: those that nobody waits for, or have the version that was seen.
answer_of_several take_all(const store::access& db, std::span<const acquire_args> batch);

/// Runs a verb that may make the row of a name. If somebody else makes it meanwhile, and
/// keeps it in a transaction, there is no row in the answer.
store::records run_to_make(const store::access& db, sheets::verb how, std::span<const store::arguments> requests);

/// Makes a vacant row for each of these names that has none.
void make_rows(const store::access& db, std::span<const acquire_args> batch);

}  // namespace rowlock::inline v1::strategies
