#include <rowlock/diagnosis.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnosis.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"
#include "strategy/inspection.hpp"

namespace rowlock::inline v1::detail {

namespace {

const driver::request nothing{};

core::settings read_settings(const dialect::table& sql, driver::session& on, const driver::limits& until) {
  core::settings out;
  for (const auto& r : on.run(sql[dialect::verb::settings], {&nothing, 1}, until))
    out.emplace(driver::text(r.at(0)), driver::text(r.at(1)));
  return out;
}

bool is_over(const error& e) { return e.code() == errc::client_closed || e.code() == errc::used_after_fork; }

finding unseen(std::string subject) {
  return {.subject = std::move(subject), .condition = condition::unknown, .sentence = "not looked at"};
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

}  // namespace

/// How the questions come to their sessions.
class client_impl::diagnosing {
 public:
  explicit diagnosing(client_impl& of) : of_{of}, until_{of.call_limits()} {}

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
    return of_.on_any_schema(until_, [&](driver::session& on) { return look(on); });
  }

  finding connection() {
    const core::instant sent = driver::now();
    settings_ = ask([&](driver::session& on) { return read_settings(of_.sql_, on, until_); });
    return core::connection_of(settings_, driver::now() - sent);
  }

  finding schema() {
    of_.schema_fits_ = false;
    ask([&](driver::session& on) { of_.require_fit_schema(on, until_); });
    const auto status = of_.schema_status();
    return {.subject = "schema",
            .condition = condition::ok,
            .sentence = "version " + std::to_string(status.applied) + ", tables " + of_.options_.table_prefix + "..."};
  }

  finding privileges() {
    ask([&](driver::session& on) { on.run(of_.sql_[dialect::verb::probe], {&nothing, 1}, until_); });
    const auto more = settings_.find("may_end_sessions");
    const std::string_view ends = more == settings_.end()  ? ""
                                  : more->second == "true" ? "; may end the sessions of other roles"
                                                           : "; may end no sessions but its own role's";
    return {.subject = "privileges",
            .condition = condition::ok,
            .sentence = "may read and write the tables" + std::string{ends}};
  }

  finding clock() {
    using std::chrono::system_clock;
    ask([&](driver::session& on) { runtime::require_sane_clock(of_.sql_, on, until_); });
    const auto before = system_clock::now();
    const auto there = ask([&](driver::session& on) { return runtime::read_clock(of_.sql_, on, until_); });
    const auto took = system_clock::now() - before;
    return core::clock_of(std::chrono::round<duration>(there - (before + took / 2)));
  }

  client_impl& of_;
  const driver::limits until_;
  core::settings settings_{};
};

std::vector<finding> client_impl::diagnose() {
  const entered under_way{*this};
  return diagnosing{*this}.all();
}

database_statistics client_impl::database_stats() {
  const entered under_way{*this};
  const auto until = call_limits();
  std::vector<std::string> odd;
  auto out = on_session(until, [&](driver::session& on) { return strategies::count(sql_, on, until, odd); });
  report_odd(odd);
  return out;
}

}  // namespace rowlock::inline v1::detail
