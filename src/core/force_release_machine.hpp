#pragma once

#include <rowlock/fencing_token.hpp>

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "core/identity.hpp"

namespace rowlock::inline v1::core {

/// Decides how a name is freed: its functions are called with what was seen, and answer what to do next.
///
///   looking --no holder, or it is spared--> nothing_to_free
///   looking --a lease--> free it --freed--> freed
///   looking --a transaction, for long enough--> end its session --it is gone--> freed
///
/// Until the first action, the owner is the one of the latest look; from then on only that owner is freed. The session
/// that keeps the row locked is ended once; after that the machine only waits for its end.
class force_release_machine {
 public:
  enum class action : std::uint8_t {
    free_lease_now,   ///< if that fails: was_not_freed()
    end_session_now,  ///< then look again
    look_again,       ///< after a pause
    freed,
    nothing_to_free,  ///< there was nothing to free
    not_ended,        ///< the session did not end in time
    unknown_session,  ///< the server does not show whose session it is
  };

  force_release_machine(std::optional<fencing_token> only, duration call_timeout, base::instant deadline)
      : only_{only}, call_timeout_{call_timeout}, deadline_{deadline} {}

  action saw(std::optional<lock_owner> found, base::instant now);
  /// The row had changed, or a transaction keeps it locked.
  action was_not_freed(base::instant now);

  /// The owner to free.
  const lock_owner& owner() const { return *meant_; }

 private:
  std::optional<fencing_token> only_;
  duration call_timeout_;
  base::instant deadline_;
  std::optional<lock_owner> meant_{};
  base::instant since_{};
  bool was_asked_to_end_ = false;
  bool was_missed_ = false;  // by the last look
};

}  // namespace rowlock::inline v1::core
