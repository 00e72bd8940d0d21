#include "engine/events/telemetry.hpp"

#include <new>

#include "base/text.hpp"

namespace rowlock::inline v1::engine {

void telemetry::report(event e) noexcept {
  if (!process_.is_foreign()) dispatcher_.add(std::move(e));
}

void telemetry::failed(const error& e) noexcept {
  if (e.code() == errc::cancelled || e.code() == errc::client_closed || e.code() == errc::used_after_fork) return;
  numbers_.failed(static_cast<errc>(e.code().value()));
  tell([&] { return events::failed{e}; });
}

void telemetry::release_failed(events::release_failed e) noexcept {
  if (process_.is_foreign()) return;
  counters::count(numbers_.release_failures);
  report({std::move(e)});
}

void telemetry::polling(const error& why) noexcept {
  counters::count(numbers_.polling_fallbacks);
  tell([&] { return events::polling{why}; });
}

void telemetry::reconnected() noexcept {
  counters::count(numbers_.reconnects);
  tell([] { return events::reconnected{}; });
}

void telemetry::odd_rows(const std::vector<std::string>& names) noexcept try {
  if (names.empty()) return;
  warn("the lock table has " + std::to_string(names.size()) + (names.size() == 1 ? " row" : " rows") +
       " that rowlock ignores, because its name is not 1 to 255 bytes of UTF-8: " +
       base::quoted(base::printable(names.front())) +
       (names.size() == 1 ? "; delete this row, which was written by hand"
                          : " and others; delete these rows, which were written by hand"));
} catch (const std::bad_alloc&) {  // it will be found again
}

}  // namespace rowlock::inline v1::engine
