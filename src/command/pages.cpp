#include "command/manual.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "command/pages_under_locks.hpp"

namespace rowlock::command {

namespace {

/// Texts that several pages share, besides `waiting`.
constexpr std::string_view statuses = R"(## EXIT STATUS
 0    done
 1    show, history, waiters, release, guard: there is none, or nothing was changed
 64   the command line, the name of a lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 74   standard output, or a file, cannot be written to
 77   no permission: for the file, the database, the tables or a session
 78   rowlock's tables are missing, or of another version: see migrate)";
constexpr std::string_view environment = R"(## ENVIRONMENT
ROWLOCK_DATABASE is the URL of the database if --database is not given. ROWLOCK_DATABASE_FILE names a file whose first line is
that URL, if neither is given: then a password is in no process list and in no environment. URLs are
sqlite:/var/lib/rowlock/locks.db, postgresql://user@host/database or mysql://user@host/database)";
constexpr std::string_view options_and_environment = R"(## OPTIONS

@statuses
@environment)";

constexpr page pages[] = {
    {"rowlock", "SUBCOMMAND ...", "locks in a database, for shells", R"(## DESCRIPTION
Runs commands under locks that are kept in a database, as flock(1) does with a lock in a file on one host. Shows the holders
of locks and their waiters, and frees locks.

Messages go to standard error. A DURATION is written 100ms, 5s, 2m30s, 1.5h, 1d or 1w; a bare number is seconds. No word
after -- is an option, so a NAME there may begin with a hyphen: rowlock show -- -job. The page of a subcommand: rowlock run
--help.

A write beyond the limit for the size of files (ulimit -f) fails like a write to a full disk; it does not end rowlock.

## SUBCOMMANDS

@options

## EXAMPLES
Say where the locks live, and make the tables there, once:
 export ROWLOCK_DATABASE=postgresql://cron@db/ops
 rowlock migrate
 rowlock check

Lines for the crontabs of several hosts: the job succeeds once a day on one of them, although their clocks differ by minutes.
The first line of the file is the URL:
 ROWLOCK_DATABASE_FILE=/etc/rowlock/database
 0 3 * * *  rowlock run nightly --every 1d --at 03:00 --timezone Europe/Berlin --quiet -- nightly.sh

What became of it:
 rowlock history nightly

Which locks are held, who holds this one, and who waits for it:
 rowlock list
 rowlock show nightly
 rowlock waiters nightly

All locks, on a live screen:
 rowlock top

Free it, if you know that its holder should not hold it:
 rowlock release --force nightly)"},
    {"run", "run [OPTION]... NAME [--] COMMAND [ARGUMENT]...", "run a command while holding a lock", about_run},
    {"hold", "hold [OPTION]... NAME", "hold a lock until standard input ends", about_hold},
    {"lead", "lead [OPTION]... NAME [--] COMMAND [ARGUMENT]...", "keep a command running on one of several hosts",
     about_lead},
    {"migrate", "migrate [OPTION]...", "make or update the tables", R"(## DESCRIPTION
Makes rowlock's tables, or brings them up to date. It may be run again, and by many at once: one does it, and the others find
it done. Programs that hold locks meanwhile keep them.

With --dry-run it prints the SQL that it would run, to be read or to be run by psql, mysql or sqlite3; nothing if nothing is
missing. Tables that were made in this way are as good; migrate later notes their checksums.

With --status it prints a line for each file of the schema: version, state, time of application (UTC) and file. The exit
status is 78 unless this rowlock can work with the tables. The states are
 pending  not applied
 applied  applied from the text that this rowlock has
 by_hand  run by hand, and not yet checked by migrate
 edited   applied from another text than this rowlock has: migrate refuses
 unknown  newer than this rowlock
With --json the status, which is also printed after a migration, is an object: applied and expected (the newest version in
the database, and the newest that this rowlock knows), serves_from (the oldest version that a program may expect and still
work with these tables), fits, refusal (why migrate would refuse, or null), and migrations, an array of objects: version,
file, state and applied_at. With --dry-run it is an array of what is missing: version, file and sql.

@options)"},
    {"sweep", "sweep --once|--every DURATION [OPTION]...", "delete rows that are not needed any more", R"(## DESCRIPTION
Deletes the rows of names that had no holder during the retention, the tickets of waiters that have died, and old runs of
jobs. Without sweeps locks work, but the tables grow with every new name. It may run on every host: one sweeps, the others
stand by and take over if it dies. It goes through the tables in small steps, rests between them, and waits for no locked
row.

With --once it prints what was deleted, or that another sweeper is at work. With --every it reports only failures, tries
again, and runs until SIGTERM, SIGINT or SIGHUP; the exit status is then 0.

With --once --json it prints an object: sweeps (1, or 0 if another sweeper is at work, which stand_bys counts), failures,
rows, tickets and runs (deleted), announced (free names whose waiters were notified) and longest_call_us, the longest time that
the database took for one step.

@options

## EXAMPLES
As a service:
 rowlock sweep --every 1m

From cron, if a day's rows may stay:
 17 4 * * *  rowlock sweep --once --quiet --retention 1d)"},
    {"list", "list [OPTION]... [PREFIX]", "list the locks that are held", R"(## DESCRIPTION
Prints the locks that are held now and whose names begin with PREFIX, in the order of the names' bytes: name, fencing token,
time since the grant, time until the lease ends unless it is renewed, owner (application:host:pid:id) and note. A lock that
a transaction holds has no lease, and on a server no other session can read its owner. The owner of a shared lock is
(shared), with the number of permits in use. Control characters are shown as \n or \x1b.

@options)"},
    {"show", "show [OPTION]... NAME", "show the holder of a lock and its waiters", R"(## DESCRIPTION
Prints the holder of the lock NAME and, below, its waiters in their order: ticket (the least is the next), time since the
wait began, owner (application:host:pid:id), thread and note. The exit status is 1 if there is no holder, even if there are
waiters.

A lock that was released, but is kept by --at-least, is shown as finished, with its last owner and the thread (released). For
a job (see rowlock run --every) it prints the last success, the last failure, and when the next period begins; or, if that is
over, since when the job is due: no run has begun since. The holders of a shared lock are shown below it: token, time since the
grant, time until the lease ends, permits, owner, thread and note.

With --json it prints an object as in the list, with "waiters", an array of objects (name, ticket, owner, thread,
waits_for_us, note), and for a shared lock "holders", an array of objects as in the list. Without a holder its fields are
null; without waiters too, and if it is no job, the answer is null. For a job there is "job": last_success and last_failure,
each an object as in the history or null, and next_period and due_since, of which one is null.

@options)"},
    {"history", "history [OPTION]... [NAME]", "list the runs of a job, or of all jobs", R"(## DESCRIPTION
Prints the last runs of the job NAME, the newest first: job, beginning of its period, number of the run in the period, host,
time of its beginning, how long it took, and its result. Times are UTC, by the database's clock. Without NAME it prints the
runs of each job, in the order of the names' bytes. The exit status is 1 if there are none. Runs are recorded by rowlock run
--every, and by programs. The results are
 succeeded      it is the success of its period
 exit status N  COMMAND exited so
 failed         the work of a program threw an exception
 signal N       this signal ended COMMAND
 timed out      it took longer than --timeout
 lost           it lost its lock, or its rowlock or its host died
 running        it has not ended

rowlock sweep deletes old runs: see its options --keep-runs and --run-retention.

With --json it prints an array of objects: job, period_begin, period_end, attempt (the number in the period), owner, host,
token, started_at, finished_at, took_us, result (succeeded, failed, killed, timed_out, lost or running), exit_status, signal
and output, the last KiB of the output with --keep-output, or the message of the exception. A value that does not exist is
null.

@options

## EXAMPLES
The last failures of all jobs, with what they printed:
 rowlock history --failed --last 3 --json)"},
    {"waiters", "waiters [OPTION]... [NAME]", "list the waiters for a lock, or for all locks", R"(## DESCRIPTION
Prints the waiters for the lock NAME in their order: ticket (the least is the next), time since the wait began, owner
(application:host:pid:id), thread and note. Without NAME it prints the waiters for every lock, with the lock's name first,
in the order of the names' bytes. The exit status is 1 if there are none. A wait inside a transaction of a program is not in
the queue.

With --json it prints an array of objects: name, ticket, owner, thread, waits_for_us and note.

With --graph it prints who waits for whom: the waiter, the name that it waits for, and the holder; a line for each holder. A
waiter is in a circle if it waits, by way of others, for itself: such a wait ends with an error within 2s, unless a member
of the circle waits in a transaction. A lock that was handed over inside a program is shown with its first thread. With
--json it prints an array of objects: owner, thread, name, holders (an array of objects: owner, thread) and in_circle.

@options)"},
    {"release", "release --force [OPTION]... NAME", "free a lock that another process holds", R"(## DESCRIPTION
Frees the lock NAME, whichever process holds it: for operators who know that the holder should not hold it, because it hangs,
or because its host is gone and the lease is long. After a command or a program has ended, its lock is freed without this, at
the latest when its lease ends.

It shows the holder and the waiters, and asks on the terminal. It frees only the lock that it has shown: if the lock has
passed to another holder meanwhile, that holder keeps it. A shared lock is freed as a whole; with --token, only for the
holder with this token (see rowlock show). The exit status is 1 if nothing was freed. With --yes it does not ask. If standard
input or standard error is no terminal, --yes is required.

The holder is not stopped. A holder with a lease learns of the loss when it next renews it, within a third of the lease
(rowlock run then ends its command); until then it works on, beside the next holder. A lock that a transaction holds is freed
by ending the transaction's session on the server, which rolls it back; that needs the permission to end the session.

With --json it prints the object of rowlock show --json, as it was before, with "freed" and "why_not": null if the lock was
freed, or else "not_held" (there is no holder any more), "not_confirmed" (the answer was no) or "passed_on" (another holder
has it meanwhile).

@options

## EXAMPLES
By hand:
 rowlock release --force nightly

In a script that needs the lock to be free, whether or not it was held:
 rowlock release --force --yes nightly || test $? -eq 1)"},
    {"top", "top [OPTION]... [PREFIX]", "show locks, holders and waiters on a live screen", R"(## DESCRIPTION
Shows the locks that are held or waited for and whose names begin with PREFIX, and looks again every second: time since the
grant, time until the lease ends unless it is renewed, number of waiters, longest wait, holder and note. If a look fails, the
error is shown below the table, and rowlock looks again.

On a narrow screen columns are left out, in this order: TOKEN, LONGEST, NOTE, LEASE, WAIT, HELD, HOLDER.

If standard input or output is no terminal, it prints one table, as with --once.

## KEYS
 q, Ctrl-C     quit
 n a l w       sort by name, age, lease left or queue; again: in reverse
 /             show only names that contain the text that is typed next; ^ stands for the beginning;
               enter keeps it, escape ends it
 arrows, j k   select a lock, as do page up and down, home and end
 f             free the selected lock: shows its holder and asks; only the lock as shown is freed
               (see rowlock release)
 space         look now
 ?             show the keys that the last line does not name

@options

## EXAMPLES
The locks of the orders, those with the most waiters first:
 rowlock top --sort queue orders/

A table for a ticket or a log:
 rowlock top --once)"},
    {"check", "check [OPTION]...", "check whether locks work here, and what would be better", R"(## DESCRIPTION
Checks everything that locks need, and prints a line for each subject: the connection, the schema, the privileges, the clock,
settings with which a crash of the server can lose a committed lock, and whether the database is one server of several. After
the subject comes
 ok       it is as it should be
 advice   locks work; the sentence says what would be better
 failed   locks do not work; the sentence says what to do
 unknown  it could not be checked
The exit status is 0 unless a check has failed; then it is 77 for the privileges, 78 for the schema, and 69 for all else.

If no check has failed, --measure also prints what a lock costs on this server from this host: the medians of a read, an
acquisition and a release, and the cycles of acquisition and release in a second, with 1 thread and with 8, each with a name
of its own. On PostgreSQL, "relaxed" is the same without the wait for the disk, which is what rowlock guard --relaxed saves.
The load is real, so do not measure a server that is busy. The names begin with "rowlock check --measure", and the next
sweeps delete them.

With --json it prints an array of objects: subject, condition and sentence. With --measure it prints an object: findings is
that array, and measured, which is null where a check or the measurement has failed, has read_us, acquire_us, release_us and
cycles, an array of objects: commits ("as now" or "relaxed"), threads, per_second and median_us.

@options

## EXAMPLES
What does a lock cost here?
 rowlock check --measure)"},
    {"metrics", "metrics [OPTION]...", "print metrics of the database, for monitoring", R"(## DESCRIPTION
Prints metrics of the database as OpenMetrics text: the numbers of names, of held locks and of waiters, and the longest hold
and wait; for each job its last success, its period, the time of its last run, whether it runs, and what became of its last 100
runs. It reads all rows: run it once a minute or so. If that fails, rowlock_database_up is 0, all other metrics are left
out, and the exit status is that of the failure.

With --output it replaces a file in one step, so that a reader finds the old text or the new. The file's mode is 0644, less
the umask.

With --json it prints an object: up, names, held, held_by_transaction, waiters, longest_hold_us, longest_wait_us and job_runs,
an array as of rowlock history --json. A value that is unknown or does not exist is null.

@options

## EXAMPLES
From cron, for the textfile collector of node_exporter:
 * * * * *  rowlock metrics --output /var/lib/prometheus/node-exporter/rowlock.prom)"},
    {"guard", "guard [OPTION]...", "keep locks exclusive over failovers that lose commits", R"(## DESCRIPTION
Prints the state of the guard over failovers, or changes it for all clients of the database. If an asynchronous standby is
promoted, the last commits are lost, and with them grants whose holders still rely on them. With a guard, a quarantine begins
then: nothing is granted until every lease that may have been lost has ended. Attempts find locks busy, waits go on, and
holders that the new primary knows keep their locks.

No lease, --at-least or transaction of for_update may be longer than the quarantine: choose the longest of them, or a little
more. Clients learn of the change within 20s, and are protected from then on. Leases that are longer are renewed for no longer
than the quarantine; if any is out, a quarantine begins at once. Clients that do not know the guard are refused while it is
on. The role of the database must be the one that ran rowlock migrate, or have its rights.

On PostgreSQL, --relaxed makes grants, renewals and releases faster: 20s after that they do not wait for the disk any more. A
crash of the server may lose the last of them, so it begins a quarantine, too; a clean restart does not. Without --quarantine
its length stays as it is. To go back, give --quarantine without --relaxed.

It does not help against two primaries at once, nor against a former primary that is started again with its old data. SQLite,
Galera and group replication need no guard, and refuse it.

The state is off, on, or on and relaxed, the length of a quarantine, the time of the last change (UTC), the server's history of commits to which
the tables belong, and, while a quarantine is on, when it ends. The exit status is 1 if --end-quarantine ended none. It asks on
the terminal; if standard input or standard error is no terminal, --yes is required.

With --json it prints an object: on, relaxed, quarantine_us, left_us (of the quarantine that is on), since, incarnation and term, the
number of changes. A value that does not exist is null.

@options

## EXAMPLES
Leases of at most 30s, as rowlock run has them:
 rowlock guard --quarantine 30s

The same, with grants that do not wait for the disk:
 rowlock guard --relaxed --quarantine 30s

After a planned switchover that lost nothing:
 rowlock guard --end-quarantine)"},
    {"sql", "sql [OPTION]... [VERB]", "print the SQL that is sent to a database", R"(## DESCRIPTION
Prints every statement that rowlock sends to a database, with comments, for people who want to know what it asks of their
server, EXPLAIN it, or find it in a log. It connects to nothing, and needs only the beginning of the URL: postgresql:, mysql:,
mariadb: or sqlite:.

A verb is one request to the database. Its comments say what it takes and answers, what it does, which rows it locks, where it
reads the clock, and what it means if no row is answered; or why this database does not need it. With VERB, only that verb is
printed.

The names of the tables begin with --table-prefix. Arguments are printed as they are sent: $1 for PostgreSQL, ?1 for SQLite,
and ? for MySQL and MariaDB, where a comment before the statement names them.

@options

## EXAMPLES
What a release does on MySQL:
 rowlock sql --database mysql: release

All statements for this database, page by page:
 rowlock sql | less)"},
    {"help", "help [OPTION]... [SUBCOMMAND]", "print a page of the manual", R"(## DESCRIPTION
Prints the page of SUBCOMMAND, or of rowlock itself, as --help does. It needs no database.

With --man the page is in the form that man(1) reads. The package installs these pages, and completion for bash, zsh and fish.
Completion also offers the names of held locks, if the database answers within 200ms.

## OPTIONS

@statuses

## EXAMPLES
Read a page without installing it:
 rowlock help --man run | man -l -

Complete in this shell, which is bash or zsh:
 source <(rowlock help --completion bash)
 source <(rowlock help --completion zsh)

Complete in fish:
 rowlock help --completion fish | source)"}};

}  // namespace

const page& page_of(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(pages), std::end(pages), [&](const page& p) { return p.name == name; });
  if (found == std::end(pages)) throw std::logic_error{"no page for a subcommand"};
  return *found;
}

std::string_view shared_text(std::string_view name) {
  if (name == "options") return options_and_environment;
  if (name == "waiting") return waiting;
  return name == "statuses" ? statuses : environment;
}

}  // namespace rowlock::command
