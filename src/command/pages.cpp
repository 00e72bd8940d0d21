#include "command/pages.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "command/pages_under_locks.hpp"

namespace rowlock::command {

namespace {

constexpr page::section common_statuses{"EXIT STATUS", R"( 0    done
 1    show, waiters, release: nobody has it, waits for it, or was freed
 64   the command line, the name of a lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 74   standard output, or a file, cannot be written to
 77   no permission: for the file, the database, the tables or a session
 78   rowlock's tables are missing, or of another version: see migrate)"};

constexpr page::section whole_before[] = {
    {"DESCRIPTION",
     R"(Runs commands under locks whose only infrastructure is a database, as flock(1) does with a file on one host,
shows who holds them and who waits for them, and frees them.

What rowlock says of its own goes to standard error. DURATIONs are written 100ms, 5s, 2m30s, 1.5h, 1d, 1w; a bare number
is seconds. The page of a subcommand: rowlock run --help. No word after -- is an option, so a NAME there may begin with a
hyphen: rowlock show -- -job.

A write beyond the limit for the size of files (ulimit -f) fails as one on a full disk does; it does not end rowlock.)"}};

constexpr page::section whole_behind[] = {
    common_statuses, environment, {"EXAMPLES", R"(Say where the locks live, and make the tables there, once:
 export ROWLOCK_DATABASE=postgresql://cron@db/ops
 rowlock migrate
 rowlock check

A line for the crontabs of several hosts: the job runs on one of them, and the others skip it, although their clocks differ
by minutes. The file has the URL in its first line:
 ROWLOCK_DATABASE_FILE=/etc/rowlock/database
 0 3 * * *  rowlock run -n --quiet -E 0 --at-least 5m --lease 5m nightly nightly.sh

Which locks are held, who has this one, and who waits for it:
 rowlock list
 rowlock show nightly
 rowlock waiters nightly

The same of all locks, on a screen:
 rowlock top

Free it, where you know that its holder should not have it:
 rowlock release --force nightly)"}};

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
With --json that is an object, which migrating itself prints too when it is done: applied and expected (the newest version in the database, and the newest this rowlock knows),
serves_from (the oldest that a program may expect and still work with these tables), fits, refusal (why migrate would
refuse; null where it would not), and "migrations", an array of objects: version, file, state and applied_at. With
--dry-run it is an array of what is missing: version, file and sql.)"}};

constexpr page::section sweep_before[] = {
    {"DESCRIPTION",
     R"(Deletes the rows of names that nobody has had for the retention, and the tickets of waiters that have died. Nothing is
wrong where nobody sweeps, but the tables grow with every new name. It may be run on every host: one sweeps, and the
others stand by and take over if it dies. It goes through the tables in small steps, rests between them, and waits for no
row that somebody has locked.

With --once it prints what was deleted, or that another one is at work. With --every it says nothing but what went wrong,
tries again, and runs until SIGTERM, SIGINT or SIGHUP, which are an end in order: the exit status is 0.

With --once --json it prints an object: sweeps (1 unless another one is at work, which stand_bys counts), failures, rows
and tickets (deleted), announced (free names that waiters were told of), and longest_call_us, the longest that the database took for one step.)"},
    {"EXAMPLES", R"(As a service:
 rowlock sweep --every 1m

From cron, where a day's rows may stay:
 17 4 * * *  rowlock sweep --once --quiet --retention 1d)"}};

constexpr page::section list_before[] = {
    {"DESCRIPTION",
     R"(Prints the locks that are held now and whose names begin with PREFIX, in the order of their bytes: name, fencing
token, for how long it is held, when its lease ends unless it is renewed, owner (application:host:pid:id) and note.
A lock that is held by a transaction has no lease, and on a server nobody else can read who its owner is. The owner of one that is
shared is (shared), with the number of permits that are given out. Control characters are shown as \n or \x1b.)"}};

constexpr page::section show_before[] = {
    {"DESCRIPTION",
     R"(Prints who holds the lock NAME and, below, who waits for it, in their order: ticket (the least is the next), for how
long, owner (application:host:pid:id), thread and note. The exit status is 1 where nobody holds it, also if
somebody waits.

A lock that was released, but is kept by --at-least, is shown with its last owner and the thread (released).

Of a lock that is shared it prints below who has it: token, for how long, when the lease ends, permits, owner, thread and note.

With --json it is an object as in the list, "holders", an array of such objects, if it is shared, and "waiters" an array of objects: name, ticket, owner, thread, waits_for_us and
note. Where somebody waits but nobody holds it, what is about the holder is null, and where nobody does either, all is: null.)"}};

constexpr page::section waiters_before[] = {
    {"DESCRIPTION",
     R"(Prints who waits for the lock NAME, in their order: ticket (the least is the next), for how long, owner
(application:host:pid:id), thread and note. Without NAME it prints who waits for any lock, with the lock's name first, in the order of the
names' bytes. The exit status is 1 where nobody waits. Who waits in a transaction of a program's own is not in the queue.

With --json it is an array of objects: name, ticket, owner, thread, waits_for_us and note.

With --graph it prints who waits for whom: the waiter, what it waits for, and who holds that; a line for each holder. A waiter
is in a circle if it waits, by way of others, for itself: such a wait ends with an error within 2s, unless somebody in the circle
waits in a transaction. A lock that is handed over inside a program is shown under the thread that
had it first. With --json it is an array of objects: owner, thread, name, holders (an array of objects: owner, thread) and in_circle.)"}};

constexpr page::section top_before[] = {
    {"DESCRIPTION",
     R"(Shows the locks that are held or waited for and whose names begin with PREFIX, and looks again every second: for how
long each is held, when its lease ends unless it is renewed, how often it is granted, how many wait, how long the queue was at the
last ten looks (a step for each who waits, the highest for eight and more), and who holds it. A wide screen also shows the token, the longest
wait and the note. What the database refuses is said below the table, and it looks again.

GRANTS/S is by the last ten looks. A look sees that a lock has another token than at the look before, not how many had it
between the two: where every look saw another, there is a ">" before the number. It is - after the first look, and for a
lock that a transaction has without a token that can be seen.

Where standard input or output is no terminal, it prints a table after each look, in place of a screen.)"},
    {"KEYS", R"( q, Ctrl-C     quit
 n a l w r     sort by name, age, lease left, queue or rate; again: the other way round
 /             show only names that have the text that is typed next; ^ stands for the beginning;
               enter keeps it, escape ends it
 arrows, j k   select a lock, as do page up and down, home and end
 f             free the selected lock: shows its holder and asks; what is freed is what was shown
               (see rowlock release)
 space         look now
 ?             show the keys that the last line does not name)"}};

constexpr page::section top_behind[] = {
    common_statuses, environment, {"EXAMPLES", R"(The locks of the orders, those that are waited for most first:
 rowlock top --sort queue orders/

A table for a ticket or a log:
 rowlock top --once)"}};

constexpr page::section release_before[] = {
    {"DESCRIPTION",
     R"(Frees the lock NAME, whoever has it: for people who know that the holder should not have it, because it hangs, or
because its host is gone and the lease is long. Nothing else is needed where a command or a program has ended: its lock is
let go by itself, at the latest when its lease ends.

It shows who has the lock and who waits for it, and asks on the terminal. What it frees is what it has shown: if the
lock has passed to another meanwhile, it stays. A lock that is shared is freed as a whole; with --token, only for the holder that has
this token (see rowlock show). The exit status is 1 where nothing was freed. With --yes it asks nothing. Where standard input or standard error is no terminal, --yes must be given.

The holder is not stopped. One with a lease hears that its lock is lost when it next renews it, within a third of the
lease (rowlock run then ends its command), and works on until then while the next one has the lock already. A lock that
a transaction has is freed by ending the session of that transaction on the server, which undoes what it has done; that needs the
permission to end it.

With --json it prints the object of rowlock show --json, as it was before, with "freed" and "why_not": null where it was
freed, or else "not_held" (nobody has it, or has it any more), "not_confirmed" (the answer was no) or "passed_on" (another has it meanwhile).)"}};

constexpr page::section release_behind[] = {common_statuses, environment, {"EXAMPLES", R"(By hand:
 rowlock release --force nightly

In a script, that needs the lock to be free whether or not anybody had it:
 rowlock release --force --yes nightly || test $? -eq 1)"}};

constexpr page::section check_before[] = {
    {"DESCRIPTION",
     R"(Looks at all that locks need, and prints a line for each matter: the connection, the schema, the privileges, the
clock, settings that decide whether a committed lock can be forgotten, and whether the database is one server of several.
Behind the matter stands
 ok       it is as it should be
 advice   locks work; the sentence says what would be better
 failed   locks do not work; the sentence says what to do
 unknown  it could not be looked at
The exit status is 0 unless something has failed; then it is 77 for the privileges, 78 for the schema, and 69 for all else.

With --json it is an array of objects: subject, condition and sentence.)"}};

constexpr page::section metrics_before[] = {
    {"DESCRIPTION",
     R"(Prints what is in the database, for monitoring, as OpenMetrics text: how many names there are, how many locks are
held, how many wait, and the longest of each. It reads all rows: for once a minute or so. Where that
fails, rowlock_database_up is 0, all else is left out, and the exit status is that of the failure.

With --output it replaces a file in one step, so that whoever reads it finds the old text or the new. The file's mode is 0644, less the umask.

With --json it is an object: up, names, held, held_by_transaction, waiters, longest_hold_us and longest_wait_us. What is
not known, or not there, is null.)"}};

constexpr page::section metrics_behind[] = {
    common_statuses, environment, {"EXAMPLES", R"(From cron, for the textfile collector of node_exporter:
 * * * * *  rowlock metrics --output /var/lib/prometheus/node-exporter/rowlock.prom)"}};

constexpr page::section sql_before[] = {
    {"DESCRIPTION",
     R"(Prints every statement that rowlock sends to a database, with comments: for people who want to know what it asks of their
server, EXPLAIN it, or find it again in a log. Nothing is connected to, and of the URL only the beginning counts:
postgresql:, mysql:, mariadb: or sqlite: is enough.

A verb is one thing that is asked of the database. Its comments say what it takes and answers, what it does, which rows it locks, where
it reads the clock, and what it means if no row is answered; or why this database has no need of it. With VERB, only that one is printed.

The names of the tables begin with --table-prefix. Arguments stand as they are sent: $1 for PostgreSQL, ?1 for SQLite, and ? for MySQL
and MariaDB, where a comment before the statement names them.)"}};

constexpr page::section sql_behind[] = {common_statuses, environment, {"EXAMPLES", R"(What a release does on MySQL:
 rowlock sql --database mysql: release

All that is sent to this database, on pages:
 rowlock sql | less)"}};

constexpr page::section help_before[] = {
    {"DESCRIPTION",
     R"(Prints the page of SUBCOMMAND, or of rowlock itself, as --help does. It needs no database.

With --man it is in the form that man(1) reads. The package has these pages installed, and the completion for
bash, zsh and fish.)"}};

constexpr page::section help_behind[] = {common_statuses, {"EXAMPLES", R"(Read a page without installing it:
 rowlock help --man run | man -l -

Complete in this shell, which is bash or zsh:
 source <(rowlock help --completion bash)
 source <(rowlock help --completion zsh)

The same in fish:
 rowlock help --completion fish | source)"}};

constexpr page::section other_behind[] = {common_statuses, environment};

constexpr page pages[] = {
    {"rowlock", "SUBCOMMAND ...", "locks in a database, for shells", whole_before, whole_behind},
    {"run", "run [OPTION]... NAME [--] COMMAND [ARGUMENT]...", "run a command while holding a lock", run_before,
     run_behind},
    {"hold", "hold [OPTION]... NAME", "hold a lock until standard input ends", hold_before, hold_behind},
    {"lead", "lead [OPTION]... NAME [--] COMMAND [ARGUMENT]...", "keep a command running on one of several hosts",
     lead_before, lead_behind},
    {"migrate", "migrate [OPTION]...", "make or update the tables", migrate_before, other_behind},
    {"sweep", "sweep --once|--every DURATION [OPTION]...", "delete what nobody needs any more", sweep_before,
     other_behind},
    {"list", "list [OPTION]... [PREFIX]", "list the locks that are held", list_before, other_behind},
    {"show", "show [OPTION]... NAME", "tell who holds a lock and who waits for it", show_before, other_behind},
    {"waiters", "waiters [OPTION]... [NAME]", "list who waits for a lock, or for any", waiters_before, other_behind},
    {"release", "release --force [OPTION]... NAME", "free a lock that somebody else has", release_before,
     release_behind},
    {"top", "top [OPTION]... [PREFIX]", "show on a live screen who holds what and who waits", top_before, top_behind},
    {"check", "check [OPTION]...", "tell whether locks can be had here, and what would be better", check_before,
     other_behind},
    {"metrics", "metrics [OPTION]...", "print what is in the database, for monitoring", metrics_before, metrics_behind},
    {"sql", "sql [OPTION]... [VERB]", "print the SQL that is sent to a database", sql_before, sql_behind},
    {"help", "help [OPTION]... [SUBCOMMAND]", "print a page of the manual", help_before, help_behind}};

}  // namespace

const page& page_of(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(pages), std::end(pages), [&](const page& p) { return p.name == name; });
  if (found == std::end(pages)) throw std::logic_error{"no page for a subcommand"};
  return *found;
}

}  // namespace rowlock::command
