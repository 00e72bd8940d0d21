#include "strategy/for_update.hpp"

#include "strategy/acquire_step.hpp"

namespace rowlock::inline v1::strategies {

namespace {

answer why_refused(const store::access& db, const acquire_args& what) {
  const auto row = store::look_at(db, what.name);
  if (!row) make_rows(db, {&what, 1});
  return row && !row->is_free() ? busy(*row) : answer{};
}

}  // namespace

// Nothing is committed before the release, so no reply that is lost can leave a lock behind: when the server ends the
// session at the latest, the row is as it was. The next holder's token is greater all the same, since it is at least
// the clock after the lock was taken.
answer for_update::acquire(const store::access& db, const acquire_args& what) const {
  if (refused_.may_contain(what.name)) {  // it costs less to look
    const auto row = store::look_at(db, what.name);
    if (row && !row->is_free()) return busy(*row);
  }
  db.session.begin(db.until);
  if (const auto rows = db.run(sql::verb::hold, {{store::field::name, what.name}}); !rows.empty()) {
    refused_.remove(what.name);
    return {.what = verdict::granted, .token = fencing_token{rows[0].integer(store::field::version)}};
  }
  db.session.rollback(db.until);
  refused_.add(what.name);
  return why_refused(db, what);
}

void for_update::beat(const store::access& db) { db.run(sql::verb::beat); }

void for_update::release(const store::access& db, std::string_view name, std::string_view acquisition) {
  const auto& next = db.sheet[sql::verb::tell_next];
  const store::arguments given{{store::field::name, name}, {store::field::attempt, acquisition}};
  db.session.commit_and_tell(next, store::positional(next, given), db.until);
}

}  // namespace rowlock::inline v1::strategies
