#include "driver/sqlite/caller_connections.hpp"

#include <cstdint>
#include <unordered_map>

#include "base/guarded.hpp"

namespace rowlock::inline v1::driver {

namespace {

using installations = base::guarded<std::unordered_map<const void*, std::string>>;

// Never destroyed: connections may be closed when the program ends.
installations& known() {
  static auto* const all = new installations;
  return *all;
}

void answer_null(sqlite3_context* to, int /*count*/, sqlite3_value** /*arguments*/) { sqlite3_result_null(to); }
void forget(void* connection) { known().lock()->erase(connection); }

// Its name is unique among the copies of this library in the process.
bool hears_of_end(sqlite3* connection) {
  static const auto name = "rowlock_" + std::to_string(reinterpret_cast<std::uintptr_t>(&known()));
  return sqlite3_create_function_v2(connection, name.c_str(), 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, connection,
                                    answer_null, nullptr, nullptr, forget) == SQLITE_OK;
}

}  // namespace

bool is_known_in(sqlite3* connection, std::string_view installation) {
  const auto all = known().lock();
  const auto found = all->find(connection);
  return found != all->end() && found->second == installation;
}

void note_installation(sqlite3* connection, std::string_view installation) {
  const bool is_new = !known().lock()->contains(connection);
  if (is_new && !hears_of_end(connection)) return;
  (*known().lock())[connection] = installation;
}

}  // namespace rowlock::inline v1::driver
