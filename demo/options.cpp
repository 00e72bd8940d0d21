#include "options.hpp"

#include <CLI/CLI.hpp>

#include "page_file.hpp"
#include "shop.hpp"
#include "ways.hpp"

namespace flash_sale {
namespace {

constexpr const char* description =
    "Sells one item to buyers in several processes, one order per user: without a lock, which oversells, then with "
    "every "
    "strategy of rowlock and in transactions of the shop's own. In the end it makes two mistakes that locks alone do "
    "not "
    "prevent.";

constexpr const char* explanation =
    "The shop's data live in the tables flash_sale_stock and flash_sale_orders, which every run makes anew.\n\n"
    "SQLite: they are in PATH, and the locks in PATH-locks, because a write transaction of the application would hold "
    "up the renewal of locks in its own file. For locks in the shop's transactions they are in PATH itself. Both files "
    "stay where a database was given.\n\n"
#if defined(ROWLOCK_WITH_POSTGRESQL) || defined(ROWLOCK_WITH_MYSQL)
    "On a server the locks are beside them, in rowlock_lock. All tables stay.\n\n"
#endif
    "--report draws the runs of the table as timelines: a lane for each thread (for each process, if there are more "
    "than "
    "64 threads), a bar for each purchase (with a lock: for each time that it is held), a line for each wait, and what "
    "is "
    "oversold in red. FILE is one HTML page that loads nothing from elsewhere; it is replaced in one step when the "
    "table "
    "is complete. The page has the latest 7000 purchases of each run, so that it stays below 2 MB.\n\n"
    "The exit status is 1 if something that is to be right oversold, gave a user two orders or did not sell "
    "everything.";

std::string sentence_if_not_writable(const std::string& file) {
  try {
    check_page_file(file);
    return {};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

std::string sentence_if_wrong(const std::string& url) {
  try {
    (void)parse_database(url);
    return {};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

/// CLI11 takes "-1" for a very large number.
std::string sentence_if_no_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos ? ""
                                                                   : "a seed is a whole number, not \"" + text + '"';
}

void add_sale_options(CLI::App& app, sale& to) {
  constexpr std::size_t one = 1;
  app.add_option("--units", to.units, "Units in stock; half as many users again want one")
      ->check(CLI::Range(one, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--processes", to.processes, "Processes full of buyers")
      ->check(CLI::Range(one, std::size_t{64}))
      ->capture_default_str();
  app.add_option("--threads", to.threads, "Buyers in each of them")
      ->check(CLI::Range(one, std::size_t{64}))
      ->capture_default_str();
  app.add_option("--seed", to.seed, "Who clicks when, and how long each purchase takes")
      ->check(CLI::Validator{sentence_if_no_number, ""})
      ->capture_default_str();
}

}  // namespace

parsed_options parse_options(int argc, const char* const* argv) {
  parsed_options parsed;
  auto& options = parsed.options;
  std::optional<std::string> only;
  CLI::App app{description, "flash_sale"};
  app.footer(explanation);
  app.add_option("--database", options.database, "Where to sell; default: a temporary file")
      ->type_name(database_forms())
      ->check(CLI::Validator{sentence_if_wrong, ""});
  app.add_option("--strategy", only, "Make only this run; none: the one without a lock")
      ->type_name("NAME")
      ->check(CLI::IsMember{all_runs()});
  add_sale_options(app, options.sale);
  app.add_option("--json", options.json, "Also write the results there")->type_name("FILE");
  app.add_option("--report", options.report, "Also draw the runs as timelines, in an HTML page there")
      ->type_name("FILE")
      ->check(CLI::Validator{sentence_if_not_writable, ""});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    parsed.exit_status = app.exit(e);
  }
  options.shows_mistakes = !only;
  options.runs = only ? std::vector{*only} : all_runs();
  return parsed;
}

}  // namespace flash_sale
