#include <rowlock/diagnosis.hpp>
#include <rowlock/error.hpp>
#include <rowlock/job.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/options.hpp>
#include <rowlock/schema_status.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace rowlock::inline v1 {

namespace {

// In the order of the enumerators.
constexpr std::string_view names_of_conditions[] = {"ok", "advice", "failed", "unknown"};
constexpr std::string_view names_of_fairness[] = {"unfair", "fifo"};
constexpr std::string_view names_of_job_results[] = {"running", "succeeded", "failed", "killed", "timed_out", "lost"};
constexpr std::string_view names_of_job_statuses[] = {"begun",     "succeeded",   "already_succeeded", "failed",
                                                      "timed_out", "lost",        "attempts_used_up",  "too_early",
                                                      "due_soon",  "not_acquired"};
constexpr std::string_view names_of_reasons[] = {"none",          "expired",     "taken_over",    "forced",
                                                 "row_vanished",  "unreachable", "session_ended", "hold_limit",
                                                 "client_closed", "forgotten",   "forked"};
constexpr std::string_view names_of_states[] = {"pending", "applied", "by_hand", "edited", "unknown"};
constexpr std::string_view names_of_strategies[] = {"unique_index", "for_update", "version_cas"};

template <class Enum, std::size_t Number>
constexpr std::string_view name_of(Enum one, const std::string_view (&names)[Number]) noexcept {
  const auto at = static_cast<std::size_t>(one);
  return at < Number ? names[at] : "unknown";
}

constexpr std::size_t longest_name = 255;

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_name, sentence}; }

}  // namespace

std::string_view to_string(condition c) noexcept { return name_of(c, names_of_conditions); }
std::string_view to_string(fairness f) noexcept { return name_of(f, names_of_fairness); }
std::string_view to_string(job_result r) noexcept { return name_of(r, names_of_job_results); }
std::string_view to_string(job_status s) noexcept { return name_of(s, names_of_job_statuses); }
std::string_view to_string(loss_reason reason) noexcept { return name_of(reason, names_of_reasons); }
std::string_view to_string(migration_state state) noexcept { return name_of(state, names_of_states); }
std::string_view to_string(strategy s) noexcept { return name_of(s, names_of_strategies); }

lock_name::lock_name(checked /*tag*/, std::string_view text) : text_{text} {
  if (text.empty()) refuse("the lock's name is empty; it must have 1 to 255 bytes");
  if (text.size() > longest_name)
    refuse("the lock's name has " + std::to_string(text.size()) +
           " bytes, and at most 255 are allowed; it begins with " + base::quoted(base::printable(text.substr(0, 40))));
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    refuse("the lock's name must not have a NUL; this one has one at byte " + std::to_string(nul));
  if (!base::is_utf8(text)) refuse("the lock's name must be well-formed UTF-8");
}

}  // namespace rowlock::inline v1
