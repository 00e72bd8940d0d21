#include "store/lock_owner.hpp"

#include "store/inspection.hpp"

namespace rowlock::inline v1::store {

std::optional<core::lock_owner> find_lock_owner(const access& db, std::string_view name) {
  const auto row = look_at(db, name);
  if (!row) return std::nullopt;
  core::lock_owner out{.committed = row->token, .is_committed = !row->is_free()};
  const auto blockers = find_blockers(db, name, !row->is_vacant);
  if (blockers.empty() && !out.is_committed) return std::nullopt;
  for (const auto& each : blockers) {
    if (!out.session) {
      out.session = each.session;
      out.session_name = each.info.owner;
    } else if (each.session) {
      out.other_sessions.push_back(*each.session);
    }
  }
  if (out.is_committed) out.acquisition = row->acquisition;
  out.token = out.is_committed ? row->token : blockers[0].info.token;
  return out;
}

bool free(const access& db, std::string_view name, fencing_token version) {
  return !db.run(sheets::verb::free, {{field::name, name}, {field::version, version.value()}}).empty();
}

}  // namespace rowlock::inline v1::store
