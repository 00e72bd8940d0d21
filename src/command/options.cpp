#include "command/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <string_view>

#include "command/completion.hpp"
#include "command/durations.hpp"
#include "command/help.hpp"
#include "command/pages.hpp"
#include "command/roff.hpp"

namespace rowlock::command {

namespace {

constexpr std::string_view end_of_options = "--";

/// A kind of value: how it is called in help, how it is read, and what is said where it cannot be.
template <class T>
struct kind {
  std::string_view name;
  std::optional<T> (*parse)(std::string_view text);
  std::string_view complaint;
};

std::optional<int> parse_status(std::string_view text) {
  int number = -1;
  const auto* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  const bool is_status = failure == std::errc{} && rest == end && number >= 0 && number <= 255;
  return is_status ? std::optional{number} : std::nullopt;
}

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc{} && rest == end ? std::optional{number} : std::nullopt;
}

std::optional<strategy> parse_strategy(std::string_view text) {
  for (const auto each : all_strategies)
    if (text == to_string(each)) return each;
  return std::nullopt;
}

constexpr kind<duration> a_duration{"DURATION", parse_duration, "is no duration; write 5s, 100ms, 2m or 90"};
constexpr kind<int> a_status{"STATUS", parse_status, "is no exit status; there are 0 to 255"};
constexpr kind<std::size_t> a_count{"NUMBER", parse_count, "is no number; write 1000"};
constexpr kind<strategy> a_strategy{"STRATEGY", parse_strategy,
                                    "is no strategy; there are unique_index, for_update and version_cas"};

/// CLI11's own reading of numbers takes "-1" and "0x4B" too.
template <class T, class To>
CLI::Option& add(CLI::App& app, const std::string& flag, const kind<T>& of, To& to, const std::string& explanation) {
  const auto read = [flag, &of, &to](const std::string& text) {
    const auto value = of.parse(text);
    if (!value) throw CLI::ValidationError{flag, '"' + text + "\" " + std::string{of.complaint}};
    to = *value;
  };
  return *app.add_option_function<std::string>(flag, read, explanation)->type_name(std::string{of.name});
}

void add_run(CLI::App& app, options& to) {
  run_options& run = to.run;
  app.add_option("NAME", to.name)->required();
  add(app, "--wait", a_duration, run.wait, "Wait at most so long for the lock; 0 tries once. Default: for ever.");
  app.add_flag_callback(
      "--fair", [&run] { run.lock.fairness = fairness::fifo; },
      "First come, first served: do not go before anybody who waits already. See WAITING.");
  add(app, "--lease", a_duration, run.lock.lease,
      "How long the lock outlives a rowlock that cannot renew it any more: 100ms to 30d. Renewed every third of it. "
      "Default: 30s. Not with for_update, which has no lease.");
  add(app, "--at-least", a_duration, run.lock.at_least,
      "Keep the name taken for so long since the lock was got, however soon the command ends: for commands shorter "
      "than "
      "the clocks of the hosts that start them are apart. At most 30d. Not with for_update.");
  add(app, "--hold-limit", a_duration, run.lock.hold_limit,
      "The longest the command may run: then the lock is lost, and the command is ended. 100ms to 30d. Default: no "
      "limit. "
      "Not with for_update.");
  add(app, "--strategy", a_strategy, run.lock.strategy,
      "How the lock is owned: unique_index (the default), for_update or version_cas. See STRATEGIES.");
  app.add_option("--note", run.lock.note, "Shown to people who list locks.")->type_name("TEXT");
  add(app, "--grace", a_duration, run.grace,
      "How long the command has between SIGTERM and SIGKILL when the lock was lost. Default: 10s.");
  app.add_flag("--quiet", run.is_quiet, "Say nothing where the lock was not got in time.");
  add(app, "--busy-exit", a_status, run.busy_exit, "The exit status where the lock was not got in time. Default: 75.");
  add(app, "--lost-exit", a_status, run.lost_exit,
      "The exit status where the lock was lost while the command ran. Default: 70.");
}

void add_json(CLI::App& app, options& to) { app.add_flag("--json", to.as_json, "Print JSON, for programs."); }

void add_migrate(CLI::App& app, options& to) {
  auto& dry_run = *app.add_flag("--dry-run", to.migrate.is_dry_run, "Change nothing; print the SQL that is missing.");
  app.add_flag("--status", to.migrate.wants_status, "Change nothing; print how the tables stand.")->excludes(&dry_run);
  add_json(app, to);
}

void add_sweep(CLI::App& app, options& to) {
  sweep_options& sweep = to.sweep;
  auto& once = *app.add_flag("--once", sweep.is_once, "Sweep now, and that is all: for cron.");
  auto& every =
      add(app, "--every", a_duration, sweep.how.every, "Sweep again and again, until a signal ends it: 1s to 1d.");
  every.excludes(&once);
  add(app, "--retention", a_duration, sweep.how.retention,
      "Rows go when nobody has had their names for so long: 1m to 365d. Default: 1h.");
  add(app, "--batch", a_count, sweep.how.batch,
      "At most so many rows are looked at, and deleted, by one statement: 1 to 10000. Default: 1000.");
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

void add_release(CLI::App& app, options& to) {
  app.add_flag("--force")->description(
      "Free the lock, whoever has it. It must be given: otherwise only holders release.");
  app.add_flag("--yes", to.release.is_confirmed, "Do not ask: for scripts.");
  add_name_and_json(app, to);
}

void add_check(CLI::App& app, options& to) { add_json(app, to); }

void add_metrics(CLI::App& app, options& to) {
  app.add_option("--output", to.metrics.output, "Put the text in the place of this file, in one step.")
      ->type_name("FILE");
  add_json(app, to);
}

/// rowlock help.
struct help_options {
  std::string subcommand{};
  bool is_for_man = false;
  std::string shell{};
};

void add_help(CLI::App& app, help_options& to) {
  const page& about = page_of("help");
  CLI::App& help = *app.add_subcommand(std::string{about.name}, std::string{about.summary});
  help.fallthrough();
  auto& subcommand = *help.add_option("SUBCOMMAND", to.subcommand);
  auto& man = *help.add_flag("--man", to.is_for_man, "Print the page as man(1) wants it.");
  help.add_option("--completion", to.shell, "Print what completes command lines of rowlock, for a shell: bash.")
      ->type_name("SHELL")
      ->excludes(&subcommand)
      ->excludes(&man);
}

void add_subcommand(CLI::App& app, options& to, const page& about, subcommand what, void (*add)(CLI::App&, options&)) {
  CLI::App& sub = *app.add_subcommand(std::string{about.name}, std::string{about.summary});
  sub.fallthrough();  // so that --database may stand behind it
  sub.callback([&to, what] { to.what = what; });
  add(sub, to);
}

void add_everything(CLI::App& app, options& to, help_options& help) {
  app.require_subcommand(1);
  app.formatter(std::make_shared<manual_formatter>());
  app.set_help_flag("-h,--help", "Print this page.");
  app.set_version_flag("--version", "rowlock " ROWLOCK_VERSION, "Print the version.");
  app.add_option("--database", to.database, "Where the locks live. Default: see ENVIRONMENT.")->type_name("URL");
  app.add_option("--table-prefix", to.table_prefix, "What the names of the tables begin with. Default: rowlock_.")
      ->type_name("PREFIX");
  add_subcommand(app, to, page_of("run"), subcommand::run, add_run);
  add_subcommand(app, to, page_of("migrate"), subcommand::migrate, add_migrate);
  add_subcommand(app, to, page_of("sweep"), subcommand::sweep, add_sweep);
  add_subcommand(app, to, page_of("list"), subcommand::list, add_list);
  add_subcommand(app, to, page_of("show"), subcommand::show, add_name_and_json);
  add_subcommand(app, to, page_of("waiters"), subcommand::waiters, add_name_and_json);
  add_subcommand(app, to, page_of("release"), subcommand::release, add_release);
  add_subcommand(app, to, page_of("check"), subcommand::check, add_check);
  add_subcommand(app, to, page_of("metrics"), subcommand::metrics, add_metrics);
  add_help(app, help);
}

/// Also one that is the library's default: there is no lease that it could be about.
void refuse_what_is_about_a_lease(const CLI::App& run, const run_options& given) {
  if (given.lock.strategy != strategy::for_update) return;
  for (const auto* flag : {"--lease", "--at-least", "--hold-limit"})
    if (run.count(flag) != 0)
      throw usage_error{std::string{flag} +
                        " is for locks by lease; one by for_update lasts as long as its transaction"};
}

void refuse_no_time(const CLI::App& sweep) {
  if (sweep.parsed() && sweep.count("--once") + sweep.count("--every") == 0)
    throw usage_error{"sweep takes --once or --every DURATION"};
}

void refuse_without_force(const CLI::App& release) {
  if (release.parsed() && release.count("--force") == 0)
    throw usage_error{
        "only its holder releases a lock, when its command or program is done; release --force frees it whoever has "
        "it"};
}

/// What stands behind "--" is the command's, to the letter.
void take_command(options& to, std::span<const char* const> behind, bool has_one) {
  if (to.what != subcommand::run) {
    if (has_one) throw usage_error{"only run takes a command behind --"};
    return;
  }
  if (behind.empty()) throw usage_error{"no command is given; write: rowlock run NAME -- COMMAND [ARGUMENT]..."};
  to.run.command.assign(behind.begin(), behind.end());
}

bool is_question(const CLI::ParseError& e) { return e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success); }

// CLI11 prints help for the subcommand that was named.
std::string answer_to(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream out;
  app.exit(e, out, out);
  return out.str();
}

const CLI::App& asked_about(const CLI::App& app, const std::string& name) {
  if (name.empty()) return app;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (sub->get_name() == name) return *sub;
  throw usage_error{"there is no subcommand \"" + name + '"'};
}

std::string answer_to(const CLI::App& app, const help_options& asked) {
  if (app.get_subcommand("help")->count("--completion") != 0) {
    if (asked.shell != "bash")
      throw usage_error{"--completion: \"" + asked.shell + "\" is no shell it knows; there is bash"};
    return bash_completion(app);
  }
  const CLI::App& about = asked_about(app, asked.subcommand);
  if (asked.is_for_man) return roff_page(about);
  return manual_formatter{}.make_help(&about, {}, CLI::AppFormatMode::Normal);  // help() is of what was parsed
}

}  // namespace

parsed_options parse_options(int argc, const char* const* argv) {
  const std::span all{argv, static_cast<std::size_t>(argc)};
  const auto end = std::find(all.begin(), all.end(), end_of_options);
  const bool has_command = end != all.end();
  const auto ours = static_cast<std::size_t>(end - all.begin());

  parsed_options parsed;
  help_options help;
  CLI::App app{std::string{page_of("rowlock").summary}, "rowlock"};
  add_everything(app, parsed.given, help);
  try {
    app.parse(static_cast<int>(ours), argv);
  } catch (const CLI::ParseError& e) {
    if (!is_question(e)) throw usage_error{e.what()};
    parsed.answer = answer_to(app, e);
    return parsed;
  }
  refuse_what_is_about_a_lease(*app.get_subcommand("run"), parsed.given.run);
  refuse_no_time(*app.get_subcommand("sweep"));
  refuse_without_force(*app.get_subcommand("release"));
  if (app.get_subcommand("help")->parsed()) {
    if (has_command) throw usage_error{"only run takes a command behind --"};
    parsed.answer = answer_to(app, help);
    return parsed;
  }
  take_command(parsed.given, has_command ? all.subspan(ours + 1) : all.subspan(all.size()), has_command);
  return parsed;
}

}  // namespace rowlock::command
