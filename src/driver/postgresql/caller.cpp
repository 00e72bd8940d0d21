#include <rowlock/interop/pqxx.hpp>

#include "core/error_detail.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/postgresql/errors.hpp"

namespace rowlock::inline v1::detail {

const char ROWLOCK_PQXX_TAG(PQXX_VERSION_MAJOR, PQXX_VERSION_MINOR) = 1;

namespace {

// Class 25 is for invalid transaction states, but 25P03 is about a session that the server has ended.
bool is_about_state(std::string_view sqlstate) { return sqlstate.starts_with("25") && sqlstate != "25P03"; }

}  // namespace

void rethrow_postgresql(const char* message, std::string_view sqlstate, bool connection_lost, bool committing,
                        const char* doing) {
  if (is_about_state(sqlstate))
    throw error_access::make(errc::wrong_transaction_state,
                             driver::failure_of(doing, "PostgreSQL") + driver::plain_words(message),
                             {.sqlstate = std::string{sqlstate}});
  throw driver::postgresql_error(
      {.message = message, .sqlstate = sqlstate, .connection_lost = connection_lost, .writing = committing},
      "PostgreSQL", doing);
}

}  // namespace rowlock::inline v1::detail
