#include "strategy/for_update.hpp"

#include "strategy/trying.hpp"

namespace rowlock::inline v1::strategies {

// Nothing is committed before the release, so no reply that is lost can leave a lock behind: at the latest when the
// server ends the session, the row is as it was. The next holder's token is greater all the same, since it is at least
// the clock after the lock was had.
answer for_update::acquire(driver::session& on, const attempt& what, const driver::limits& until) const {
  if (refused_.may_contain(what.name)) {  // it costs less to look
    const auto row = look_at(sql_, on, what.name, until);
    if (row && !row->is_free()) return busy(*row);
  }
  on.begin(until);
  const driver::request asked{what.name};
  if (const auto rows = on.run(sql_[dialect::verb::hold], {&asked, 1}, until); !rows.empty()) {
    refused_.remove(what.name);
    return {.what = verdict::granted, .token = fencing_token{driver::integer(rows[0].at(1))}};
  }
  on.rollback(until);
  refused_.add(what.name);
  return why_refused(on, what, until);
}

answer for_update::why_refused(driver::session& on, const attempt& what, const driver::limits& until) const {
  const auto row = look_at(sql_, on, what.name, until);
  if (!row) make_rows(sql_, on, {&what, 1}, until);
  return row && !row->is_free() ? busy(*row) : answer{};
}

void for_update::beat(driver::session& on, const driver::limits& until) const {
  const driver::request nothing{};
  on.run(sql_[dialect::verb::beat], {&nothing, 1}, until);
}

void for_update::release(driver::session& on, std::string_view name, std::string_view acquisition,
                         const driver::limits& until) const {
  on.commit_behind(sql_[dialect::verb::tell_next], {name, acquisition}, until);
}

}  // namespace rowlock::inline v1::strategies
