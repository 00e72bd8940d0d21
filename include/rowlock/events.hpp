#pragma once

#include <string>
#include <variant>

#include <rowlock/error.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>

namespace rowlock::inline v1 {

namespace events {

/// A lock was lost while it was held. Reported after its lost() has fired.
struct lost {
  lock_name name;
  fencing_token token;
  loss_reason reason = loss_reason::none;
};

/// A lock could not be released where nobody could be told by an exception: unlock(), a destructor, close().
/// After a failure of the database the client goes on trying in the background until the lease has run out;
/// `cause` with errc::lock_lost or errc::not_held means that there was nothing to release.
struct release_failed {
  lock_name name;
  error cause;
};

/// A sweep was ended by an error; the next one goes on where it was.
struct sweep_failed {
  error cause;
};

/// Something about the database works, but worse than it could; the sentence says what to change.
struct warning {
  std::string sentence;
};

}  // namespace events

/// What client_options::observer is told. Later versions add alternatives: end a std::visit with a generic case.
struct event {
  std::variant<events::lost, events::release_failed, events::warning, events::sweep_failed> what;
};

}  // namespace rowlock::inline v1
