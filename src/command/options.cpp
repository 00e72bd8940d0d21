#include "command/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>
#include <string_view>

#include "command/command_line.hpp"
#include "command/completion.hpp"
#include "command/manual.hpp"
#include "command/option_kinds.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

void add_fair(CLI::App& app, run_options& run) {
  app.add_flag_callback(
      "--fair", [&run] { run.lock.fairness = fairness::fifo; },
      "First come, first served: do not overtake a waiter. See WAITING.");
}

void add_lease(CLI::App& app, run_options& run, const std::string& except) {
  add(app, "--lease", length_of_a_lease, run.lock.lease,
      "How long the lock remains after the last renewal: 100ms to 30d. It is renewed every third of this time. "
      "Default: 30s." +
          except);
}

void add_talk(CLI::App& app, run_options& run, const std::string& quiet_about) {
  app.add_option("--note", run.lock.note, "A text that is shown with the lock and its waiter.")->type_name("TEXT");
  auto& quiet = *app.add_flag("--quiet", run.is_quiet, "Say nothing while waiting" + quiet_about);
  app.add_flag("--verbose", run.is_verbose,
               "Say who holds the lock and since when, how long it took to acquire it, and which renewals fail.")
      ->excludes(&quiet);
}

/// The options that `run` and `hold` share.
void add_lock(CLI::App& app, options& to) {
  run_options& run = to.run;
  app.add_option("NAME", to.name)->required();
  auto& wait =
      add(app, "-w,--wait", up_to_ten_years, run.wait,
          "How long to wait for the lock, and for a database that cannot be reached; 0 tries once. Default: no "
          "limit, but 1m for a database that has not answered since the start.");
  app.add_flag_callback(
         "-n,--nonblock", [&run] { run.wait = duration::zero(); }, "Try once: as --wait 0.")
      ->excludes(&wait);
  add_fair(app, run);
  auto& shared = *app.add_flag("-s,--shared", run.is_shared,
                               "Share the lock with others that give --shared: readers, which exclude a writer.");
  auto& permits =
      add(app, "--permits", some_permits, run.permits,
          "How many commands with --permits may hold the lock at once: 1 to 1000000. Each applies its own number.");
  permits.excludes(&shared);
  app.add_option(
         "--also", run.also,
         "Acquire this lock, too: all of them at once, or none while it waits. May be given several times. Not with "
         "for_update.")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->excludes(&shared)
      ->excludes(&permits);
  add_lease(app, run, " Not with for_update, which has no lease.");
  add(app, "--at-least", up_to_thirty_days, run.lock.at_least,
      "How long the name remains taken after the grant, even if the lock is released earlier: for commands that are "
      "shorter than the difference between the clocks of the hosts that start them. At most as long as --lease. Not "
      "with for_update.");
  add(app, "--hold-limit", length_of_a_lease, run.lock.hold_limit,
      "The longest time to hold the lock: then it is lost. 100ms to 30d. Default: no limit. Not with for_update.");
  add(app, "--strategy", a_strategy, run.lock.strategy,
      "How the lock is owned: unique_index (the default), for_update or version_cas. See STRATEGIES.");
  add_talk(app, run, ", nor if the lock was not acquired in time.");
  add(app, "-E,--busy-exit", a_status, run.busy_exit,
      "The exit status if the lock was not acquired in time. Default: 75.");
  add(app, "--lost-exit", a_status, run.lost_exit, "The exit status if the lock was lost while held. Default: 70.");
}

void add_command(CLI::App& app, run_options& run, const std::string& when) {
  add(app, "--grace", up_to_ten_years, run.grace,
      "How long the command has between SIGTERM and SIGKILL " + when + ". Default: 10s.");
  app.add_option("-c,--command", run.shell_command, "Run this in a shell, /bin/sh, in place of COMMAND.")
      ->type_name("STRING");
}

/// The options about running once in a period.
void add_period(CLI::App& app, run_options& run) {
  job_options& job = run.job;
  auto& every = add(app, "--every", length_of_a_period, run.every,
                    "Run COMMAND until it has succeeded once in each period of this length, of all hosts: 1s to 366d. "
                    "See PERIODS.");
  every.excludes(app.get_option("--shared"))->excludes(app.get_option("--permits"));
  add(app, "--at", a_time_of_day, job.at, "With days: the local time at which a period begins. Default: 00:00.")
      .needs(&every);
  app.add_option("--timezone", job.time_zone, "With days: the time zone, like Europe/Berlin. Default: UTC.")
      ->type_name("ZONE")
      ->needs(&every);
  add(app, "--early", up_to_half_a_year, job.early_by,
      "How long before a period a start counts as one of that period, and waits for it if the one before has its "
      "success: 0 to half of --every. Default: a tenth of --every, at most 5m.")
      .needs(&every);
  auto& retries = *add(app, "--retries", some_retries, job.retries,
                       "How many more runs may begin in a period after one that did not succeed. Default: 0.")
                       .needs(&every);
  add(app, "--retry-wait", up_to_a_day, job.retry_wait,
      "How long the next run waits after one that did not succeed: 0 to 1d. Default: 0.")
      .needs(&retries);
  add(app, "--timeout", length_of_a_period, job.timeout,
      "The longest time that a run may take: then it is ended, as if the lock was lost. Not longer than --every.")
      .needs(&every);
  app.add_flag("--keep-output", run.keeps_output,
               "Record the last KiB that COMMAND writes to standard output and standard error.")
      ->needs(&every);
}

void add_run(CLI::App& app, options& to) {
  add_lock(app, to);
  add_period(app, to.run);
  add_command(app, to.run, "if the lock was lost, or --timeout is over");
}

void add_lead(CLI::App& app, options& to) {
  run_options& run = to.run;
  app.add_option("NAME", to.name)->required();
  app.add_flag(
      "--restart", run.restarts,
      "Start COMMAND again when it has ended, after a pause: 1s, and twice as long after each time that it ran "
      "for less than 30s, up to 30s.");
  add_fair(app, run);
  add_lease(app, run, {});
  add_talk(app, run, ".");
  add_command(app, run, "if the lock was lost or rowlock must end");
}

void add_json(CLI::App& app, options& to) { app.add_flag("--json", to.as_json, "Print JSON, for programs."); }

void add_migrate(CLI::App& app, options& to) {
  auto& dry_run = *app.add_flag("--dry-run", to.is_dry_run, "Change nothing; print the SQL that is missing.");
  app.add_flag("--status", to.wants_status, "Change nothing; print the state of the tables.")->excludes(&dry_run);
  add_json(app, to);
}

void add_sweep(CLI::App& app, options& to) {
  sweep_options& sweep = to.sweep;
  auto& once = *app.add_flag("--once", sweep.is_once, "Sweep now, and exit: for cron.");
  auto& every =
      add(app, "--every", bounds{1s, 24h}, sweep.how.every, "Sweep at this interval until a signal ends it: 1s to 1d.");
  every.excludes(&once);
  add(app, "--retention", bounds{1min, 24h * 365}, sweep.how.retention,
      "Delete a row when its name has had no holder for this time: 1m to 365d. Default: 1h.");
  add(app, "--batch", a_count, sweep.how.batch,
      "How many rows one statement looks at, and deletes, at most: 1 to 10000. Default: 1000.");
  add(app, "--keep-runs", some_runs, sweep.how.kept_runs,
      "Keep so many of the last runs of each job, however old: 0 to 1000000. Default: 100.");
  add(app, "--run-retention", bounds{24h, 24h * 3650}, sweep.how.run_retention,
      "Delete other runs of a job when their period ended so long ago: 1d to 3650d. Default: 400d.");
  auto& quiet = *app.add_flag("--quiet", sweep.is_quiet, "Do not say what was swept.");
  app.add_flag("--json", to.as_json, "With --once: print JSON, for programs.")->needs(&once)->excludes(&quiet);
}

void add_list(CLI::App& app, options& to) {
  app.add_option("PREFIX", to.prefix);
  add_json(app, to);
}

void add_name_and_json(CLI::App& app, options& to) {
  app.add_option("NAME", to.name)->required();
  add_json(app, to);
}

/// A name that may be left out, but not empty.
CLI::Option& add_optional_name(CLI::App& app, options& to) {
  return *app.add_option_function<std::string>("NAME", [&to](const std::string& name) {
    to.name = name;
    to.is_of_one = true;
  });
}

void add_waiters(CLI::App& app, options& to) {
  auto& name = add_optional_name(app, to);
  auto& prefix = *app.add_option("--prefix", to.prefix, "Print only the waiters for names that begin with it.");
  prefix.type_name("TEXT")->excludes(&name);
  app.add_flag("--graph", to.is_graph, "Print who waits for whom, for all names.")->excludes(&name)->excludes(&prefix);
  add_json(app, to);
}

void add_history(CLI::App& app, options& to) {
  add_optional_name(app, to);
  add(app, "--last", a_count, to.last, "How many runs to print of each job: 1 to 10000. Default: 20.");
  app.add_flag("--failed", to.only_failed, "Print only runs that have ended, and not succeeded.");
  add_json(app, to);
}

void add_top(CLI::App& app, options& to) {
  app.add_option("PREFIX", to.prefix);
  add(app, "--every", bounds{100ms, 24h}, to.top.every, "Look again after this time: 100ms to 1d. Default: 1s.");
  add(app, "--sort", an_order, to.top.by, "Sort by this: name (the default), age, lease or queue.");
  app.add_flag("--once", to.top.is_once, "Print a table, and exit.");
}

void add_release(CLI::App& app, options& to) {
  app.add_flag("--force")->description(
      "Free the lock, whichever process holds it. Required: without it, only holders release.");
  add(app, "--token", a_token, to.token,
      "Free it only if this is its fencing token; of a shared lock, the one holder with this token. Default: all "
      "holders.");
  app.add_flag("--yes", to.is_confirmed, "Do not ask: for scripts.");
  add_name_and_json(app, to);
}

void add_check(CLI::App& app, options& to) {
  auto& measure = *app.add_flag("--measure", to.measures, "Measure what a grant costs here, too.");
  add(app, "--for", bounds{1s, 1h}, to.measures_for, "With --measure: how long to measure: 1s to 1h. Default: 10s.")
      .needs(&measure);
  add_json(app, to);
}

void add_metrics(CLI::App& app, options& to) {
  app.add_option("--output", to.output, "Replace this file by the text, in one step.")->type_name("FILE");
  add_json(app, to);
}

void add_guard(CLI::App& app, options& to) {
  guard_options& guard = to.guard;
  auto& quarantine = add(app, "--quarantine", bounds{1s, 24h * 30}, guard.quarantine,
                         "Switch the guard on, or change how long nothing is granted after a failover: 1s to 30d. No "
                         "lease may be longer.");
  auto& relaxed =
      *app.add_flag("--relaxed", guard.is_relaxed,
                    "With or without --quarantine: grants do not wait for the disk, and a crash of the server "
                    "begins a quarantine, too: PostgreSQL.");
  auto& off = *app.add_flag("--off", guard.is_off, "Switch the guard off.")->excludes(&quarantine)->excludes(&relaxed);
  auto& end = *app.add_flag("--end-quarantine", guard.ends_quarantine,
                            "End the quarantine that is on: if you know that no commit was lost.")
                   ->excludes(&quarantine)
                   ->excludes(&relaxed)
                   ->excludes(&off);
  app.add_flag("--yes", to.is_confirmed, "With --end-quarantine: do not ask, for scripts.")->needs(&end);
  add_json(app, to);
}

void add_sql(CLI::App& app, options& to) {
  app.add_option("VERB", to.sql.verb);
  app.add_flag("--transaction-pooling", to.sql.transaction_pooling,
               "Print what clients with the option transaction_pooling send: PostgreSQL behind PgBouncer.");
  app.add_flag("--durable-release", to.sql.durable_release,
               "Print what clients with the option durable_release send: PostgreSQL.");
}

CLI::App& add_subcommand(CLI::App& app, const char* name) {
  CLI::App& sub = *app.add_subcommand(name, std::string{page_of(name).summary});
  sub.fallthrough();  // accepts --database after the subcommand
  return sub;
}

/// rowlock help.
struct help_options {
  std::string subcommand{};
  bool is_for_man = false;
  std::string_view shell{};
};

void add_help(CLI::App& app, help_options& to) {
  CLI::App& help = add_subcommand(app, "help");
  auto& subcommand = *help.add_option("SUBCOMMAND", to.subcommand);
  auto& man = *help.add_flag("--man", to.is_for_man, "Print the page in the form of man(1).");
  add(help, "--completion", a_shell, to.shell, "Print the completion of command lines for a shell: bash, zsh or fish.")
      .excludes(&subcommand)
      ->excludes(&man);
}

void add_subcommand(CLI::App& app, options& to, const char* name, subcommand what, void (*add)(CLI::App&, options&)) {
  CLI::App& sub = add_subcommand(app, name);
  sub.callback([&to, what] { to.what = what; });
  add(sub, to);
}

/// The library has the same rule, but another name for the option.
std::string refusal_of_prefix(const std::string& text) {
  const bool is_of_these = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  const bool begins_well = !text.empty() && (text.front() < '0' || text.front() > '9');
  if (is_of_these && begins_well && text.size() <= 32) return {};
  return refusal(text, "is no prefix of tables; write 1 to 32 lower-case letters, digits and _, and no digit first");
}

void add_everything(CLI::App& app, options& to, help_options& help) {
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this page.");
  app.set_version_flag("--version", "rowlock " ROWLOCK_VERSION, "Print the version.");
  app.add_option("--database", to.database, "Where the locks live. Default: see ENVIRONMENT.")->type_name("URL");
  app.add_option("--table-prefix", to.table_prefix, "What the names of the tables begin with. Default: rowlock_.")
      ->type_name("PREFIX")
      ->check(refusal_of_prefix);
  add_subcommand(app, to, "run", subcommand::run, add_run);
  add_subcommand(app, to, "hold", subcommand::hold, add_lock);
  add_subcommand(app, to, "lead", subcommand::lead, add_lead);
  add_subcommand(app, to, "migrate", subcommand::migrate, add_migrate);
  add_subcommand(app, to, "sweep", subcommand::sweep, add_sweep);
  add_subcommand(app, to, "list", subcommand::list, add_list);
  add_subcommand(app, to, "show", subcommand::show, add_name_and_json);
  add_subcommand(app, to, "history", subcommand::history, add_history);
  add_subcommand(app, to, "waiters", subcommand::waiters, add_waiters);
  add_subcommand(app, to, "release", subcommand::release, add_release);
  add_subcommand(app, to, "top", subcommand::top, add_top);
  add_subcommand(app, to, "check", subcommand::check, add_check);
  add_subcommand(app, to, "metrics", subcommand::metrics, add_metrics);
  add_subcommand(app, to, "guard", subcommand::guard, add_guard);
  add_subcommand(app, to, "sql", subcommand::sql, add_sql);
  add_help(app, help);
}

void take_command(const command_line& line, run_options& to) {
  if (to.shell_command.empty() && line.command.empty())
    throw usage_error{"no COMMAND is given; write: rowlock " + line.app->get_name() + " NAME COMMAND [ARGUMENT]..."};
  if (!to.shell_command.empty() && !line.command.empty())
    throw usage_error{"both -c STRING and a COMMAND are given; leave out one of them"};
  to.command = to.shell_command.empty() ? line.command : std::vector<std::string>{"/bin/sh", "-c", to.shell_command};
}

std::string answer_to(const CLI::App& app, const help_options& asked) {
  if (!asked.shell.empty()) return std::string{completion_for(asked.shell)};
  const auto* about = asked.subcommand.empty() ? &app : find_subcommand(app, asked.subcommand);
  if (about == nullptr) throw usage_error{no_subcommand(app, asked.subcommand)};
  return asked.is_for_man ? roff_page(*about) : plain_page(*about);
}

options parse(CLI::App& app, std::span<const char* const> words) {
  options given;
  help_options help;
  add_everything(app, given, help);
  const auto line = part(app, words);
  try {
    app.parse(std::vector{line.ours});
  } catch (const CLI::CallForHelp&) {
    given.answer = plain_page(*line.app);
    return given;
  } catch (const CLI::CallForVersion& e) {
    given.answer = std::string{e.what()} + '\n';
    return given;
  } catch (const CLI::ParseError& e) {
    throw usage_error{e.what()};
  }
  if (line.app->get_name() == "help") {
    given.answer = answer_to(app, help);
    return given;
  }
  refuse_contradictions(*line.app, given);
  if (line.takes_command()) take_command(line, given.run);
  return given;
}

// CLI11 stores --database before it finds that other words are missing.
options parse_to_complete(CLI::App& app, std::span<const char* const> words) {
  options given;
  help_options help;
  add_everything(app, given, help);
  given.completes = complete(app, words);
  try {
    if (given.completes.begun_name) app.parse(part(app, words.first(words.size() - 1)).ours);
  } catch (const CLI::ParseError&) {  // it is not complete yet
  }
  given.what = subcommand::complete;
  return given;
}

/// The command that prints the page about these words.
std::string page_about(const CLI::App& app, std::span<const char* const> words) {
  for (const std::string word : words.subspan(std::min<std::size_t>(words.size(), 1)))
    if (find_subcommand(app, word) != nullptr) return "rowlock " + word + " --help";
  return "rowlock --help";
}

}  // namespace

options parse_options(int argc, const char* const* argv) {
  const std::span words{argv, static_cast<std::size_t>(argc)};
  CLI::App app{std::string{page_of("rowlock").summary}, "rowlock"};
  if (words.size() > 1 && words[1] == std::string_view{"__complete"}) return parse_to_complete(app, words.subspan(1));
  try {
    return parse(app, words);
  } catch (const usage_error& e) {
    const std::string sentence = e.what();
    throw usage_error{sentence + (sentence.ends_with('?') ? " See " : "; see ") + page_about(app, words)};
  }
}

}  // namespace rowlock::command
