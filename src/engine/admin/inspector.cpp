#include "engine/admin/inspector.hpp"

#include <utility>

#include "base/boot_clock.hpp"
#include "store/inspection.hpp"
#include "store/schema.hpp"
#include "store/sharing.hpp"

namespace rowlock::inline v1::engine {

std::vector<lock_info> inspector::list(std::string_view prefix) {
  db_.check_usable();
  std::vector<std::string> odd;
  auto out = db_.run(db_.call_limits(), [&](const store::access& db) {
    return store::list(db, prefix, odd,
                       [this](lock_info& info, std::string_view acquisition) { amend(info, acquisition); });
  });
  db_.events().odd_rows(odd);
  return out;
}

// The row shows the first holder of an acquisition that was handed over, and the last token that is reserved for it.
void inspector::amend(lock_info& info, std::string_view acquisition) {
  const auto now = base::now();
  held_.each_of(info.name, [&](const lease_state& a) {
    if (!a.tenure || !a.is_held() || a.id.text() != acquisition) return;
    info.thread = a.tenure->by.text();
    info.token = a.token;
    info.held_for = now - a.asked_at;
  });
}

std::optional<lock_info> inspector::find(const lock_name& name) {
  db_.check_usable();
  return db_.run(db_.call_limits(), [&](const store::access& db) {
    return store::find(db, name.view(),
                       [this](lock_info& info, std::string_view acquisition) { amend(info, acquisition); });
  });
}

std::vector<lock_info> inspector::sharers(const lock_name& name) {
  db_.check_usable();
  std::vector<lock_info> out;
  for (auto& each :
       db_.run(db_.call_limits(), [&](const store::access& db) { return store::sharers(db, name.view()); }))
    out.push_back(std::move(each.info));
  return out;
}

std::vector<waiter_info> inspector::waiters(const lock_name& name) {
  db_.check_usable();
  return db_.run(db_.call_limits(), [&](const store::access& db) { return store::waiters(db, name.view()); });
}

std::vector<waiter_info> inspector::list_waiters(std::string_view prefix) {
  db_.check_usable();
  std::vector<std::string> odd;
  auto out = db_.run(db_.call_limits(), [&](const store::access& db) { return store::list_waiters(db, prefix, odd); });
  db_.events().odd_rows(odd);
  return out;
}

database_statistics inspector::statistics() {
  const gateway::call under_way{db_};
  std::vector<std::string> odd;
  auto out = db_.run(db_.call_limits(), [&](const store::access& db) { return store::count(db, odd); });
  db_.events().odd_rows(odd);
  return out;
}

void inspector::check() {
  db_.check_usable();
  db_.forget_schema();
  db_.run(db_.call_limits(), [](const store::access& db) {
    store::require_sane_clock(db);
    store::require_privileges(db);
  });
}

void inspector::migrate() {
  db_.check_usable();
  db_.run_on_any_schema(db_.call_limits(), [&](const store::access& db) { store::migrate(db, db_.schema()); });
}

rowlock::schema_status inspector::schema_status() {
  db_.check_usable();
  return db_.run_on_any_schema(db_.call_limits(),
                               [&](const store::access& db) { return store::read_status(db, db_.schema()); });
}

}  // namespace rowlock::inline v1::engine
