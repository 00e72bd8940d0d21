#include "strategy/forcing.hpp"

#include <charconv>
#include <utility>

#include "strategy/inspection.hpp"

namespace rowlock::inline v1::strategies {

namespace {

// As lock_info::thread calls it.
std::optional<std::int64_t> session_number(std::string_view thread) {
  constexpr std::string_view before = "session ";
  std::int64_t out = 0;
  if (!thread.starts_with(before)) return std::nullopt;
  thread.remove_prefix(before.size());
  const auto [end, failure] = std::from_chars(thread.data(), thread.data() + thread.size(), out);
  return failure == std::errc{} && end == thread.data() + thread.size() ? std::optional{out} : std::nullopt;
}

}  // namespace

bool possession::is_still(const possession& then) const noexcept {
  if (committed != then.committed) return false;
  if (is_committed) return then.is_committed;
  return session == then.session && (session || !then.is_committed);
}

std::optional<possession> find_possession(const dialect::table& sql, driver::session& on, std::string_view name,
                                          const driver::limits& until) {
  const auto row = look_at(sql, on, name, until);
  if (!row) return std::nullopt;
  possession out{.committed = row->token, .is_committed = !row->is_free()};
  const auto keeper = find_keeper(sql, on, name, !row->is_vacant, until);
  if (!keeper && !out.is_committed) return std::nullopt;
  if (keeper) {
    out.session = session_number(keeper->thread);
    out.session_name = keeper->owner;
  }
  if (out.is_committed) out.acquisition = row->acquisition;
  out.token = out.is_committed ? row->token : keeper->token;
  return out;
}

bool free(const dialect::table& sql, driver::session& on, std::string_view name, fencing_token version,
          const driver::limits& until) {
  const driver::request one{name, version.value()};
  return !on.run(sql[dialect::verb::free], {&one, 1}, until).empty();
}

}  // namespace rowlock::inline v1::strategies
