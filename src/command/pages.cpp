#include "command/pages.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace rowlock::command {

namespace {

constexpr page::section environment{
    "ENVIRONMENT",
    R"(ROWLOCK_DATABASE is the URL of the database where --database is not given. ROWLOCK_DATABASE_FILE names a file whose first
line is that URL, where neither is given: so that a password shows neither in the list of processes nor in the
environment. URLs are sqlite:/var/lib/rowlock/locks.db, postgresql://user@host/database or
mysql://user@host/database)"};

constexpr page::section common_statuses{"EXIT STATUS", R"( 0    done
 64   the command line, the name of a lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 74   standard output cannot be written to
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate)"};

constexpr page::section whole_before[] = {
    {"DESCRIPTION",
     R"(Runs commands under locks whose only infrastructure is a database, as flock(1) does with a file on one host, and
shows who holds them.

What rowlock says of its own goes to standard error. DURATIONs are written 100ms, 5s, 2m, 1.5h, 1d; a bare number is
seconds.)"}};

constexpr page::section whole_behind[] = {common_statuses, environment, {"SEE ALSO", "rowlock run --help"}};

constexpr page::section run_before[] = {
    {"DESCRIPTION",
     R"(Waits for the lock NAME, runs COMMAND while it has it, and lets go when COMMAND has ended. At any time at most one
of all who ask for NAME has it, on whichever hosts they run.

The lock is a lease in the database, which rowlock renews while COMMAND runs. If rowlock or its host dies, the next one
gets the lock when the lease ends (but see STRATEGIES). If the lock is lost while COMMAND runs (the database could not be reached in time,
the machine slept, somebody freed it, --hold-limit is over), COMMAND gets SIGTERM, and SIGKILL after --grace.

COMMAND keeps standard input, output and error. Where there is a terminal it stays in the foreground, so that it may
read from the terminal and Ctrl-C and Ctrl-Z work as usual; signals sent to rowlock alone are passed on to it. Without
a terminal, as in cron, it gets a process group of its own, and signals sent to rowlock reach all of that group. If
rowlock is killed, COMMAND gets SIGTERM.

rowlock waits for COMMAND alone: what COMMAND leaves running in the background runs on without the lock.)"}};

constexpr page::section run_behind[] = {
    {"EXIT STATUS", R"(That of COMMAND, or
 64   the command line, the name of the lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 70   the lock was lost while COMMAND ran, whatever that returned (--lost-exit)
 75   the lock was not got in time (--busy-exit)
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate
 126  COMMAND was found but cannot be executed
 127  COMMAND was not found
 128+n  COMMAND was ended by signal n)"},
    {"ENVIRONMENT OF THE COMMAND",
     R"(COMMAND finds the lock's name in ROWLOCK_NAME and in ROWLOCK_TOKEN its fencing token, a number that grows with every
holder: a storage that remembers the largest it has seen can refuse a late one.)"},
    {"STRATEGIES", R"(Those who ask for a NAME exclude each other, whichever strategies they chose.

unique_index and version_cas take a lease, and no connection stays open for it. They differ in how they take it: by one
statement that waits for nobody, or by a read and a change that fails where somebody else was faster.

for_update keeps a transaction open on a connection of its own. If rowlock dies, the next one gets the lock as soon as
the server sees the connection end, within 10s at the latest. It is for commands of seconds: as long as a transaction is
open, PostgreSQL cannot clean up behind others. The lock is also lost if rowlock is stopped for longer than 10s.
In an SQLite file it is no transaction but a file beside the database that the operating system keeps locked.)"},
    {"WAITING", R"(Whoever waits stands in a queue in the database, and rowlock show prints it. A lock that is let go
goes to the first of the queue, unless somebody who has just come is faster.

With --fair nobody is overtaken by this rowlock: it gets the lock when all who began to wait before have had it or have
given up, and --wait 0 fails where anybody waits, even if the lock is free. Give it to all who ask for NAME: whoever does
without may still overtake. A waiting rowlock that was killed or stopped is passed over within 10s.)"},
    environment,
    {"EXAMPLES", R"(A job that runs on one of several hosts; the others leave it at that:
 0 3 * * *  rowlock run --wait 0 --quiet --busy-exit 0 nightly -- nightly.sh

The same for a job of a second, where the clocks of the hosts are up to a minute apart:
 0 3 * * *  rowlock run --wait 0 --quiet --busy-exit 0 --at-least 5m --lease 5m nightly -- short.sh

One deployment after the other, for at most ten minutes of waiting:
 rowlock run --wait 10m --note "$USER" deploy -- ./deploy.sh production)"}};

constexpr page::section migrate_before[] = {
    {"DESCRIPTION",
     R"(Makes rowlock's tables, or brings them up to date. It may be run again, and by many at once: one does it, and the
others find it done. Programs that hold locks meanwhile keep them.

With --dry-run it prints what it would run, to be read or to be run by psql, mysql or sqlite3; nothing where nothing is
missing. Tables that were made so, or from the files themselves, are as good; migrate later notes their checksums.

With --status it prints a line for each file of the schema: version, state, when it was applied (UTC), and file. The
exit status is 78 unless this rowlock can work with the tables. The states are
 pending  not there yet
 applied  from the very text that this rowlock has
 by_hand  run by somebody, and not yet looked at by migrate
 edited   from another text than this rowlock has: migrate refuses
 unknown  newer than this rowlock
With --json it is an object: applied and expected (the newest version in the database, and the newest this rowlock knows),
serves_from (the oldest that a program may expect and still work with these tables), fits, refusal (why migrate would
refuse; null where it would not), and "migrations", an array of objects: version, file, state and applied_at.)"}};

constexpr page::section sweep_before[] = {
    {"DESCRIPTION",
     R"(Deletes the rows of names that nobody has had for the retention, and the tickets of waiters that have died. Nothing is
wrong where nobody sweeps, but the tables grow with every new name. It may be run on every host: one sweeps, and the
others stand by and take over if it dies. It goes through the tables in small steps, rests between them, and waits for no
row that somebody has locked.

With --once it prints what was deleted, or that another one is at work. With --every it says nothing but what went wrong,
tries again, and runs until SIGTERM, SIGINT or SIGHUP, which are an end in order: the exit status is 0.)"},
    {"EXAMPLES", R"(As a service:
 rowlock sweep --every 1m

From cron, where a day's rows may stay:
 17 4 * * *  rowlock sweep --once --quiet --retention 1d)"}};

constexpr page::section list_before[] = {
    {"DESCRIPTION",
     R"(Prints the locks that are held now and whose names begin with PREFIX, in the order of their bytes: name, fencing
token, for how long it is held, when its lease ends unless it is renewed, owner (application:host:pid:id) and note.
A lock that is held by a transaction has no lease, and on a server nobody else can read who its owner is. Control characters are shown as \n or \x1b.)"}};

constexpr page::section show_before[] = {
    {"DESCRIPTION",
     R"(Prints who holds the lock NAME and, below, who waits for it, in their order: ticket (the least is the next), for how
long, owner (application:host:pid:id) and thread. The exit status is 1 where nobody holds it, also if
somebody waits.

With --json it is an object as in the list, and "waiters" an array of objects: ticket, owner, thread and waits_for_s.
Where somebody waits but nobody holds it, what is about the holder is null, and where nobody does either, all is: null.)"}};

constexpr page::section other_behind[] = {common_statuses, environment};

constexpr page pages[] = {
    {"rowlock", "SUBCOMMAND ...", "locks in a database, for shells", whole_before, whole_behind},
    {"run", "run [OPTION]... NAME -- COMMAND [ARGUMENT]...", "run a command while holding a lock", run_before,
     run_behind},
    {"migrate", "migrate [OPTION]...", "make or update the tables", migrate_before, other_behind},
    {"sweep", "sweep --once|--every DURATION [OPTION]...", "delete what nobody needs any more", sweep_before,
     other_behind},
    {"list", "list [OPTION]... [PREFIX]", "list the locks that are held", list_before, other_behind},
    {"show", "show [OPTION]... NAME", "tell who holds a lock and who waits for it", show_before, other_behind}};

}  // namespace

const page& page_of(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(pages), std::end(pages), [&](const page& p) { return p.name == name; });
  if (found == std::end(pages)) throw std::logic_error{"no page for a subcommand"};
  return *found;
}

}  // namespace rowlock::command
