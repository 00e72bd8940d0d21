#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// Includes all public headers except those in rowlock/interop/, which are for locks in your own transactions.

/// Distributed locks for programs whose only shared infrastructure is a database.
namespace rowlock {}

#include <rowlock/async.hpp>
#include <rowlock/client.hpp>
#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/election.hpp>
#include <rowlock/error.hpp>
#include <rowlock/events.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/guard_status.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/held_set.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/job.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/lock_names.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/multi_lock.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/openmetrics.hpp>
#include <rowlock/options.hpp>
#include <rowlock/quorum_lock.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/semaphore.hpp>
#include <rowlock/shared_mutex.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/strategy.hpp>
#include <rowlock/sweeper.hpp>
#include <rowlock/transaction.hpp>
#include <rowlock/waiter_info.hpp>

#endif  // ROWLOCK_BEFORE_CXX20
