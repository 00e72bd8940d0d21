#include <rowlock/diagnosis.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/diagnosis.hpp"
#include "engine/admin/inspector.hpp"

namespace rowlock::inline v1::engine {

namespace {

core::settings read_settings(const store::access& db) {
  core::settings out;
  for (const auto what : {sheets::verb::settings, sheets::verb::connection}) {
    if (!db.sheet[what].read) continue;
    for (const auto& r : db.run(what)) out.emplace(r.text(store::field::name), r.text(store::field::value));
  }
  return out;
}

bool is_over(const error& e) { return e.code() == errc::client_closed || e.code() == errc::used_after_fork; }

finding unseen(std::string subject) {
  return {.subject = std::move(subject), .condition = condition::unknown, .sentence = "not checked"};
}

/// What `look` finds, or why it finds nothing: for want of privileges, that is a finding about them.
template <class Look>
finding found_by(std::string subject, Look look) try {
  return look();
} catch (const error& e) {
  if (is_over(e)) throw;
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
      note(found_by("privileges", [&] { return privileges(); }));
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
