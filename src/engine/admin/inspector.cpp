#include "engine/admin/admin.hpp"

#include <rowlock/diagnosis.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/diagnosis.hpp"
#include "core/error_detail.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"
#include "store/schema.hpp"

namespace rowlock::inline v1::engine {

template <class Ask>
auto inspector::ask(Ask what) {
  db_.check_usable();
  return db_.run(db_.call_limits(), what);
}

// The names of rows that were written by hand may be invalid.
template <class Ask>
auto inspector::ask_and_report(Ask what) {
  std::vector<std::string> invalid;
  auto out = ask([&](const store::access& db) { return what(db, invalid); });
  db_.events().invalid_names(invalid);
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

std::vector<lock_info> inspector::list(std::string_view prefix) {
  return ask_and_report([&](const store::access& db, std::vector<std::string>& invalid) {
    return store::list(db, prefix, invalid,
                       [this](lock_info& info, std::string_view acquisition) { amend(info, acquisition); });
  });
}

std::optional<lock_info> inspector::find(const lock_name& name) {
  return ask([&](const store::access& db) {
    return store::find(db, name.view(),
                       [this](lock_info& info, std::string_view acquisition) { amend(info, acquisition); });
  });
}

std::vector<lock_info> inspector::sharers(const lock_name& name) {
  std::vector<lock_info> out;
  for (auto& each : ask([&](const store::access& db) { return store::sharers(db, name.view()); }))
    out.push_back(std::move(each.info));
  return out;
}

std::vector<waiter_info> inspector::waiters(const lock_name& name) {
  return ask([&](const store::access& db) { return store::waiters(db, name.view()); });
}

std::vector<waiter_info> inspector::list_waiters(std::string_view prefix) {
  return ask_and_report([&](const store::access& db, std::vector<std::string>& invalid) {
    return store::list_waiters(db, prefix, invalid);
  });
}

database_statistics inspector::statistics() {
  const gateway::call under_way{db_};
  return ask_and_report(store::count);
}

void inspector::check() {
  db_.check_usable();
  db_.forget_schema();
  db_.run(db_.call_limits(), [](const store::access& db) {
    store::require_sane_clock(db);
    store::require_privileges(db);
  });
}

guard_status inspector::guard() {
  return ask([&](const store::access& db) { return db_.guard().status(db); });
}

guard_status inspector::set_guard(std::optional<duration> quarantine, const guard_options& options) {
  return ask([&](const store::access& db) { return db_.guard().set(db, quarantine, options); });
}

guard_status inspector::end_quarantine() {
  return ask([&](const store::access& db) { return db_.guard().end_quarantine(db); });
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

// --- diagnosis
// ---------------------------------------------------------------------------------------------------------

namespace {

core::settings read_settings(const store::access& db) {
  core::settings out;
  for (const auto& r : db.run(sheets::verb::settings))
    out.emplace(r.text(store::field::name), r.text(store::field::value));
  return out;
}

finding unseen(std::string subject) {
  return {.subject = std::move(subject), .condition = condition::unknown, .sentence = "not checked"};
}

/// The result of `look`; if privileges are missing, a finding about that.
template <class Look>
finding found_by(std::string subject, Look look) try {
  return look();
} catch (const error& e) {
  if (detail::is_end_of_client(e)) throw;
  if (e.code() == errc::permission_denied) subject = "privileges";
  return {.subject = std::move(subject), .condition = condition::failed, .sentence = e.what()};
}

class diagnosis {
 public:
  diagnosis(gateway& db, inspector& schemas) : db_{db}, schemas_{schemas}, until_{db.call_limits()} {}

  std::vector<finding> all() {
    std::vector<finding> out;
    for (const auto* subject : {"connection", "schema", "privileges", "clock", "log settings", "cluster"})
      out.push_back(unseen(subject));
    const auto note = [&](finding f) {
      const bool is_good = f.condition != condition::failed;
      *std::find_if(out.begin(), out.end(), [&](const auto& each) { return each.subject == f.subject; }) = std::move(f);
      return is_good;
    };
    if (!note(found_by("connection", [&] { return connection(); }))) return out;
    note(core::log_of(settings_));
    note(core::cluster_of(settings_));
    if (note(found_by("schema", [&] { return schema(); }))) {
      if (note(found_by("privileges", [&] { return privileges(); })))
        note(found_by("cluster", [&] { return core::cluster_of(settings_, schemas_.guard()); }));
      note(found_by("clock", [&] { return clock(); }));
    }
    return out;
  }

 private:
  template <class Look>
  auto ask(Look look) {
    return db_.run_on_any_schema(until_, look);
  }

  finding connection() {
    const base::instant sent = base::now();
    settings_ = ask(read_settings);
    return core::connection_of(settings_, base::now() - sent);
  }

  finding schema() {
    db_.forget_schema();
    ask([&](const store::access& db) { db_.require_fit_schema(db); });
    const auto status = schemas_.schema_status();
    return {.subject = "schema",
            .condition = condition::ok,
            .sentence = "version " + std::to_string(status.applied) + ", tables " + db_.options().table_prefix + "..."};
  }

  finding privileges() {
    ask(store::require_privileges);
    const auto more = settings_.find("may_end_sessions");
    const std::string_view ends = more == settings_.end()  ? ""
                                  : more->second == "true" ? "; may end the sessions of other roles"
                                                           : "; may end the sessions of its own role only";
    return {.subject = "privileges",
            .condition = condition::ok,
            .sentence = "may read and write the tables" + std::string{ends}};
  }

  finding clock() {
    using std::chrono::system_clock;
    ask(store::require_sane_clock);
    const auto before = system_clock::now();
    const auto there = ask(store::read_clock);
    const auto took = system_clock::now() - before;
    return core::clock_of(std::chrono::round<duration>(there - (before + took / 2)));
  }

  gateway& db_;
  inspector& schemas_;
  const driver::limits until_;
  core::settings settings_{};
};

}  // namespace

std::vector<finding> inspector::diagnose() {
  const gateway::call under_way{db_};
  return diagnosis{db_, *this}.all();
}

}  // namespace rowlock::inline v1::engine
