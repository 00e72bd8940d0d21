#include "store/jobs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace rowlock::inline v1::store {

namespace {

using time = std::chrono::sys_time<duration>;

constexpr std::array recorded{job_result::succeeded, job_result::failed, job_result::killed, job_result::timed_out,
                              job_result::lost};

// A result that a later rowlock has written is no success to this one.
job_result result_named(std::string_view name) {
  if (name == to_string(job_result::running)) return job_result::running;
  const auto* const found =
      std::find_if(recorded.begin(), recorded.end(), [&](job_result r) { return to_string(r) == name; });
  return found == recorded.end() ? job_result::failed : *found;
}

std::string host_of(std::string_view owner) {
  const auto begin = owner.find(':');
  const auto end = owner.rfind(':', owner.rfind(':') - 1);
  if (begin == std::string_view::npos || end == std::string_view::npos || end <= begin) return {};
  return std::string{owner.substr(begin + 1, end - begin - 1)};
}

std::optional<int> maybe_int(const record& r, field f) {
  const auto value = r.maybe_integer(f);
  return value ? std::optional{static_cast<int>(*value)} : std::nullopt;
}

time time_in(const record& r, field f) { return time{duration{r.integer(f)}}; }

job_run run_of(const record& r) {
  job_run out{.job = lock_name{r.text(field::name)},
              .period_begin = time_in(r, field::begin),
              .period_end = time_in(r, field::end),
              .attempt = static_cast<int>(r.integer(field::attempt)),
              .owner = r.text(field::owner),
              .token = fencing_token{r.integer(field::token)},
              .started_at = time_in(r, field::started_at),
              .result = result_named(r.text(field::result)),
              .exit_status = maybe_int(r, field::exit_status),
              .signal = maybe_int(r, field::signal),
              .output = r.text(field::output)};
  out.host = host_of(out.owner);
  if (const auto end = r.maybe_duration(field::finished_at)) out.finished_at = time{*end};
  return out;
}

// A row may have been written by hand, with an invalid name.
std::vector<job_run> valid_runs(const records& rows) {
  std::vector<job_run> out;
  for (const auto& r : rows)
    if (const auto name = r.text(field::name); !name.empty() && name.size() <= 255 && base::is_plain_text(name))
      out.push_back(run_of(r));
  return out;
}

std::int64_t since_1970(time t) { return t.time_since_epoch().count(); }

driver::argument or_null(const std::optional<int>& value) {
  return value ? driver::argument{std::int64_t{*value}} : driver::argument{};
}

}  // namespace

void close_runs(const access& db, const job_lock& by) {
  db.run(sheets::verb::close_runs,
         {{field::name, by.name}, {field::acquisition, by.acquisition}, {field::token, by.token.value()}});
}

void begin_run(const access& db, const job_lock& by, const core::period& in, int most, duration wait) {
  db.run(sheets::verb::begin_run, {{field::name, by.name},
                                   {field::acquisition, by.acquisition},
                                   {field::token, by.token.value()},
                                   {field::begin, since_1970(in.begin)},
                                   {field::end, since_1970(in.end)},
                                   {field::number, std::int64_t{most}},
                                   {field::wait, wait.count()}});
}

void end_run(const access& db, const job_lock& by, time begin, const job_ending& how) {
  db.run(sheets::verb::end_run,
         {{field::name, by.name},
          {field::acquisition, by.acquisition},
          {field::token, by.token.value()},
          {field::begin, since_1970(begin)},
          {field::result, to_string(how.result)},
          {field::exit_status, or_null(how.exit_status)},
          {field::signal, or_null(how.signal)},
          {field::output, how.output.empty() ? driver::argument{} : driver::argument{std::string_view{how.output}}}});
}

found_runs find_runs(const access& db, std::string_view job, time begin) {
  const auto rows = db.run(sheets::verb::find_runs, {{field::name, job}, {field::begin, since_1970(begin)}});
  return {.runs = valid_runs(rows), .now = rows.empty() ? time{} : time_in(rows[0], field::clock)};
}

std::vector<job_run> list_runs(const access& db, std::string_view first, const std::optional<std::string>& end,
                               std::size_t most, runs_of which) {
  arguments asked{{field::prefix, first},
                  {field::number, static_cast<std::int64_t>(most)},
                  {field::each_result, std::int64_t{which == runs_of::each_result ? 1 : 0}}};
  if (end) asked.push_back({field::prefix_end, std::string_view{*end}});
  return valid_runs(db.run(sheets::verb::list_runs, asked));
}

std::size_t forget_runs(const access& db, std::size_t kept, duration retention, std::size_t number) {
  std::int64_t out = 0;
  for (const auto& r : db.run(sheets::verb::forget_runs, {{field::kept, static_cast<std::int64_t>(kept)},
                                                          {field::retention, retention.count()},
                                                          {field::number, static_cast<std::int64_t>(number)}}))
    out += r.integer(field::count);
  return static_cast<std::size_t>(out);
}

}  // namespace rowlock::inline v1::store
