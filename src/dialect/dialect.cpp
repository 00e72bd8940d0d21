#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

table::table(std::span<const step> steps, std::string_view prefix) {
  for (const step& given : steps) {
    step& s = steps_[static_cast<std::size_t>(given.verb)] = given;
    for (std::string* text : {&s.look, &s.act, &s.told, &s.many, &s.many_told}) *text = with_prefix(*text, prefix);
  }
}

const char* doing(verb v) noexcept {
  switch (v) {
    case verb::acquire:
    case verb::compare_and_set:
    case verb::hold:
    case verb::hold_while_alive:
    case verb::make:
    case verb::vacate_expired:
    case verb::touch:
    case verb::pinned_by:
    case verb::acquire_in_turn:
      return "acquiring";
    case verb::enqueue:
    case verb::stay:
    case verb::leave:
    case verb::withdraw:
    case verb::turn:
    case verb::ring:
      return "waiting in turn";
    case verb::tell_next:
    case verb::announce:
      return "telling who is next";
    case verb::find_unused:
    case verb::sweep:
    case verb::find_dead:
    case verb::bury:
      return "sweeping";
    case verb::waiters:
      return "listing those who wait";
    case verb::names_liveness:
    case verb::vacate_dead:
      return "tidying up after clients that are gone";
    case verb::renew:
      return "renewing";
    case verb::extend:
      return "extending";
    case verb::release:
    case verb::linger:
      return "releasing";
    case verb::free:
      return "freeing";
    case verb::end_session:
      return "ending another session";
    case verb::inspect:
    case verb::list:
    case verb::find_pinning:
    case verb::find_held:
    case verb::list_held:
      return "listing locks";
    case verb::beat:
      return "keeping the transaction open";
    case verb::home:
      return "reading which database this is";
    case verb::schema:
      return "reading the schema's version";
    case verb::settings:
      return "reading the settings";
    case verb::count:
      return "counting";
    case verb::probe:
      return "checking for permission to write";
    default:
      return "migrating";
  }
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (;;) {
    const auto at = text.find(what);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    out.append(by);
    text.remove_prefix(at + what.size());
  }
}

std::string with_prefix(std::string_view text, std::string_view prefix) { return replaced(text, "rowlock_", prefix); }

}  // namespace rowlock::inline v1::dialect
