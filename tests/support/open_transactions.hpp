#pragma once

#include "support/database.hpp"

namespace rowlock::test {

/// Ends the server's sessions in which the database's role has a transaction open that has changed something, as the
/// holder of a lock by for_update has, and waits until they are gone. How many there were; a file of SQLite has none.
int end_open_transactions(database& in);

/// Whether a transaction of the database's role waits for a lock on a server. In a file nobody waits.
bool is_kept_waiting(database& in);

}  // namespace rowlock::test
