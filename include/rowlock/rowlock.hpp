#pragma once

/// \file
/// All of the library but the headers in rowlock/interop/, which are for programs that speak to a database themselves.

/// Distributed locks for programs whose only shared infrastructure is a database.
namespace rowlock {}

#include <rowlock/client.hpp>
#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/error.hpp>
#include <rowlock/events.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/openmetrics.hpp>
#include <rowlock/options.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/strategy.hpp>
#include <rowlock/sweeper.hpp>
#include <rowlock/transaction.hpp>
#include <rowlock/waiter_info.hpp>
