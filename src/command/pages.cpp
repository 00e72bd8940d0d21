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

constexpr page::section waiting{
    "WAITING",
    R"(Waiters are in a queue in the database, which rowlock show prints. A released lock goes to the first of the queue,
unless a newcomer is faster. If standard error is a terminal, a line there says who has the lock. With --verbose, lines do.

With --fair this rowlock overtakes nobody: it gets the lock when all who began to wait before have had it or have
given up, and --wait 0 fails if anybody waits, even if the lock is free. Give it to all who ask for NAME: one without it
may still overtake. A waiting rowlock that was killed or stopped is passed over within 10s.

If the database cannot be reached, rowlock says so and tries again until --wait is over, so that a job survives a restart
or a failover of the server. With --wait 0 it fails at once. Without --wait it fails after one minute if the database has not
answered since the start, as with a wrong address.

In a command under the lock NAME, a rowlock that waits for NAME is refused (64): it would wait for itself.)"};

constexpr page::section run_before[] = {
    {"DESCRIPTION",
     R"(Waits for the lock NAME, runs COMMAND while it has it, and lets go when COMMAND has ended. At any time at most one
of all who ask for NAME has it, on whichever hosts they run.

The lock is a lease in the database, which rowlock renews while COMMAND runs. If rowlock or its host dies, the next one
gets the lock when the lease ends (but see STRATEGIES). If the lock is lost while COMMAND runs (the database could not be reached in time,
the machine slept, somebody freed it, --hold-limit is over), COMMAND and what it has started get SIGTERM, and SIGKILL after
--grace. If rowlock itself is killed, even by SIGKILL, a second process of it, rowlock-guard, does the same.

COMMAND keeps standard input, output and error. Where there is a terminal it stays in the foreground, so that it may
read from the terminal and Ctrl-C and Ctrl-Z work as usual. Without a terminal, as in cron, it gets a process group of
its own. Signals sent to rowlock alone are passed on to COMMAND and to what it has started in its group.

When rowlock itself has used up its processor time (the soft limit of ulimit -t), COMMAND and what it has started get SIGTERM too,
and SIGKILL after --grace; then the lock is released. For its own limits COMMAND gets the signals that it gets without rowlock.

rowlock waits for COMMAND alone: what COMMAND leaves running in the background when it ends runs on without the lock. So
does a daemon, a process with a session or, without a terminal, a group of its own, also where the lock is lost.

Options of rowlock come before COMMAND; what comes after it is its own. With -- in between, COMMAND may begin with a hyphen.)"}};

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
    {"SHARING",
     R"(With --shared, any number of commands have the lock at once, and none that asks for it without; with --permits NUMBER, as many
as that. Each has a lease and a token of its own. It takes the strategy unique_index. Who wants the lock alone is not passed for
longer than 100ms by those who come later and share it; with --fair, nobody is passed.)"},
    {"STRATEGIES", R"(Those who ask for a NAME exclude each other, whichever strategies they chose.

unique_index and version_cas take a lease, and no connection stays open for it. They differ in how they take it: by one
statement that waits for nobody, or by a read and a change that fails where somebody else was faster.

for_update keeps a transaction open on a connection of its own. If rowlock dies, the next one gets the lock as soon as
the server sees the connection end, within 10s at the latest. It is for commands of seconds: as long as a transaction is
open, PostgreSQL cannot clean up behind others. The lock is also lost if rowlock is stopped for longer than 10s.
In an SQLite file it is no transaction but a file beside the database that the operating system keeps locked.)"},
    waiting,
    environment,
    {"EXAMPLES",
     R"(A job that runs on one of several hosts, whose clocks differ by less than 5 minutes; the others skip it:
 0 3 * * *  rowlock run -n --quiet -E 0 --at-least 5m --lease 5m nightly nightly.sh

The same, and each waits for a database that is away: --at-least is the wait and the difference between the clocks:
 0 3 * * *  rowlock run -w 10m --quiet -E 0 --at-least 15m --lease 15m nightly nightly.sh

One deployment after the other, for at most ten minutes of waiting:
 rowlock run --wait 10m --note "$USER" deploy ./deploy.sh production)"}};

constexpr page::section hold_before[] = {
    {"DESCRIPTION",
     R"(Waits for the lock NAME, prints its fencing token on a line of its own, and holds the lock until standard input ends or
SIGTERM, SIGINT, SIGHUP or SIGXCPU comes. Then it releases the lock and exits with 0. It is for a section of a script that is no
command of its own. What is written to its standard input is ignored.

If the lock is lost meanwhile (the database could not be reached in time, the machine slept, somebody freed it,
--hold-limit is over), it says so and exits with 70. It stops nothing: the script must look.

When the script that started it ends, in whatever way, its end of the pipe is closed, and the lock is released. If standard
output is a pipe that no process reads any more while rowlock waits for the lock, it gives up, as by SIGPIPE. Standard
input of a background job of a script is /dev/null, which ends at once, as a closed one does: give it a pipe.)"}};

constexpr page::section hold_behind[] = {{"EXIT STATUS", R"( 0    the lock was held, and was released
 64   the command line, the name of the lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 70   the lock was lost while it was held (--lost-exit)
 74   standard output cannot be written to
 75   the lock was not got in time (--busy-exit)
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate)"},
                                         waiting,
                                         environment,
                                         {"EXAMPLES", R"(A section of a script, in sh, dash, bash and zsh:
 folder=$(mktemp -d) || exit
 mkfifo "$folder/until" "$folder/token" || exit
 rowlock hold deploy <"$folder/until" >"$folder/token" &
 holder=$!
 exec 3>"$folder/until" 4<"$folder/token"
 rm -r "$folder"
 read -r token <&4 || { wait "$holder"; exit; }
 ... the section; before each step: (echo >&3) 2>/dev/null || exit 70
 exec 3>&- 4<&-
 wait "$holder"

Where the whole script may have the lock, it can start itself again with rowlock run:
 [ "${1-}" = locked ] || exec rowlock run deploy sh "$0" locked "$@"
 shift)"}};

constexpr page::section lead_before[] = {
    {"DESCRIPTION",
     R"(Keeps COMMAND running on exactly one of several hosts: start the same line on each of them. It waits for the lock NAME,
without a time limit, and runs COMMAND when it has it, as rowlock run does; the others stand by.

If the lock is lost while COMMAND runs (the database could not be reached in time, the machine slept, somebody freed
it), COMMAND and what it has started get SIGTERM, and SIGKILL after --grace. Then rowlock waits for the lock again. If
rowlock is killed, they get the same. If it or its host dies, the next one gets the lock when the lease ends.

When COMMAND ends by itself, rowlock releases the lock and exits with its status; another host that waits runs COMMAND
then. With --restart, rowlock keeps the lock and starts COMMAND again.

SIGTERM, SIGINT and SIGQUIT end it: they are passed on to COMMAND, which gets SIGKILL after --grace; then rowlock releases the
lock, so that the next host has it at once, and exits. All other signals are only passed on. While it waits, any of them ends it.

Terminals, process groups and the words of COMMAND are as of rowlock run. Who asks for NAME with rowlock run, or in a
program, is kept out as well.)"}};

constexpr page::section lead_behind[] = {
    {"EXIT STATUS", R"(That of COMMAND, or
 64   the command line, the name of the lock or a URL is wrong
 69   the database does not answer as it should
 70   rowlock was told to end, and had lost the lock before COMMAND had ended
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate
 126  COMMAND was found but cannot be executed, also with --restart
 127  COMMAND was not found, also with --restart
 128+n  COMMAND was ended by signal n)"},
    {"ENVIRONMENT OF THE COMMAND",
     R"(COMMAND finds the lock's name in ROWLOCK_NAME and in ROWLOCK_TOKEN its fencing token, the leader's term: each leader has a
greater one than all before, and the commands that --restart starts have that of their leader.)"},
    {"WAITING",
     R"(Waiters are in a queue in the database, which rowlock show prints. A released lock goes to the first of the queue,
unless a newcomer is faster; with --fair this rowlock overtakes nobody. If the database cannot be reached, rowlock says so and
tries again until it can, but for one minute if it has not answered since the start.)"},
    environment,
    {"EXAMPLES", R"(A queue's worker of which there must be one, on two hosts; the other takes over:
 rowlock lead --restart billing/worker -- /usr/local/bin/worker

Who leads, and who stands by:
 rowlock show billing/worker)"}};

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
