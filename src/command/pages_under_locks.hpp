#pragma once

#include <string_view>

// The texts about the subcommands that hold a lock while something runs.
namespace rowlock::command {

inline constexpr std::string_view waiting = R"(## WAITING
Waiters are in a queue in the database, which rowlock show prints. The first one acquires a released lock, unless a newcomer is
faster. If standard error is a terminal, and rowlock is in its foreground, a line there shows the holder. With --verbose, lines
do.

With --fair this rowlock overtakes no waiter: it acquires the lock when all earlier waiters have held it or have given up, and
--wait 0 fails if there are waiters, even if the lock is free. Give --fair to all commands that ask for NAME: others may still
overtake. If a waiting rowlock was killed or stopped, the queue passes it within 10s.

If the database cannot be reached, rowlock says so and tries again until --wait is over, so that a job survives a restart or
a failover of the server. With --wait 0 it fails at once. Without --wait it fails after one minute if the database has not
answered since the start, as with a wrong address.

In a command under the lock NAME, a rowlock that waits for NAME is refused (64): it would wait for itself. Only under a lock by
for_update on PostgreSQL it waits, because the token is not visible there.)";

inline constexpr std::string_view about_run = R"(## DESCRIPTION
Waits for the lock NAME, runs COMMAND while it holds the lock, and releases it when COMMAND has ended. At any time the lock
has at most one holder, over all hosts.

The lock is a lease in the database, which rowlock renews while COMMAND runs. If rowlock or its host dies, the next waiter
acquires the lock when the lease ends (but see STRATEGIES). If the lock is lost while COMMAND runs (the database could not be
reached in time, the machine slept, an operator freed it, --hold-limit is over), COMMAND and its descendants receive SIGTERM,
and SIGKILL after --grace. If rowlock itself is killed, even by SIGKILL, they receive the same from its second process,
rowlock-guard.

COMMAND keeps standard input, output and error. On a terminal it stays in the foreground, so that it may read from the
terminal, and Ctrl-C and Ctrl-Z work as usual. Without a terminal, as in cron, it gets a process group of its own.

SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU and SIGCONT that are sent to rowlock alone are passed on
to COMMAND and to its descendants in its group, unless rowlock was started with the signal ignored, as by nohup. Another signal
that ends rowlock has the effect of SIGKILL.

When rowlock itself has used up its processor time (the soft limit of ulimit -t), COMMAND and its descendants receive SIGTERM
too, and SIGKILL after --grace; then the lock is released. At its own limits COMMAND receives the same signals as without
rowlock.

rowlock waits for COMMAND alone: processes that COMMAND leaves in the background run on without the lock. So do daemons
(processes with their own session or, without a terminal, their own group), even if the lock is lost.

Options of rowlock come before COMMAND; all words after it belong to it. After --, COMMAND may begin with a hyphen.

## OPTIONS

## EXIT STATUS
That of COMMAND, or
 64   the command line, the name of the lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 70   the lock was lost while COMMAND ran, whatever that returned (--lost-exit)
 75   the lock was not acquired in time; with --every also: no more runs may begin now (--busy-exit)
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate
 124  COMMAND was ended, because --timeout was over
 126  COMMAND was found but cannot be executed
 127  COMMAND was not found
 128+n  signal n ended COMMAND
With --every it is 0, too, if COMMAND has succeeded in this period before. After 70 no success is recorded.

## ENVIRONMENT OF THE COMMAND
ROWLOCK_NAME is the lock's name. ROWLOCK_TOKEN is its fencing token, a number that grows with every holder: a storage that
remembers the largest it has seen can refuse a late writer.

## PERIODS
With --every, NAME is a job that is to succeed once in each period, over all hosts. COMMAND is run unless it has succeeded in
this period. Every run is recorded in the database, with its end: rowlock history prints the runs. A success is recorded in
the transaction that confirms the lock, so a rowlock that has lost the lock cannot record one, and no period has two.

Periods are those of the database's clock: the clocks of the hosts do not matter. Without --at and --timezone a period begins
at a multiple of --every since 1970-01-01 00:00 UTC. For a number of days it begins at the local time --at in --timezone, on
each day that is a multiple of --every after 1970-01-01; around a change of summer time a day has 23 or 25 hours. Give the same
options on all hosts.

A period starts nothing: cron or a timer does, best when the period begins. If the clock of a host is ahead of the database's,
it does so in the period before. If that has its success, or no more runs may begin in it, and the next period begins within
--early, rowlock waits for that, without the lock. --wait and --nonblock are about the lock, and do not limit this wait; a
signal ends it. If the last run of the period began as shortly before, rowlock does not wait: that run was of the same start,
on another host.

A run that fails, is killed, takes longer than --timeout or loses its lock is followed by another after --retry-wait, by this
rowlock or by that of another host, whichever acquires the lock first, until --retries more runs have begun in the period. A
run whose host has died is found by the next rowlock that acquires the lock; it counts as a run. A run that lost its lock may
have done its work, and the next one repeats it: such work needs the fencing token.

If the job has succeeded in this period, rowlock says so and exits with 0. If no more runs may begin, it exits with
--busy-exit. With --quiet it says nothing of both.

With --keep-output COMMAND writes to pipes, not to a terminal or a file, and rowlock passes on what it reads from them.

## SHARING
With --shared, any number of commands hold the lock at once, and none that asks for it without --shared. With --permits
NUMBER, at most NUMBER commands do. Each has its own lease and token. The strategy must be unique_index. Later commands that
share the lock can overtake a command that does not, but for at most 100ms; with --fair, never.

## STRATEGIES
Locks of one NAME exclude each other, whichever strategies they use.

unique_index and version_cas take a lease, and keep no connection open for it. unique_index takes it by one statement that
waits for no other; version_cas by a read, and a change that fails if another client was faster.

for_update keeps a transaction open on a connection of its own. If rowlock dies, the lock is free as soon as the server sees
the connection end, within 10s at the latest. It is for commands of seconds: while a transaction is open, PostgreSQL cannot
clean up behind others. The lock is also lost if rowlock is stopped for longer than 10s. In an SQLite file it is no
transaction but a file beside the database that the operating system keeps locked.

@waiting
@environment

## EXAMPLES
A job that is to succeed once a day, in the crontabs of several hosts, with two more runs if it fails:
 0 3 * * *  rowlock run nightly --every 1d --at 03:00 --timezone Europe/Berlin --retries 2 -- nightly.sh
 rowlock history nightly

A job that runs on one of several hosts at a time; the others skip it:
 */5 * * * *  rowlock run -n --quiet -E 0 mail-queue -- send-mail.sh

One deployment after the other, for at most ten minutes of waiting:
 rowlock run --wait 10m --note "$USER" deploy ./deploy.sh production)";

inline constexpr std::string_view about_hold = R"(## DESCRIPTION
Waits for the lock NAME, prints its fencing token on a line of its own, and holds the lock until standard input ends or it
receives SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2 or SIGALRM. Then it releases the lock and exits with 0. It
is for a section of a script that is no command of its own. What is written to its standard input is ignored. In the background
of an interactive shell it leaves what is typed to others, and holds the lock until a signal, or until the terminal is closed.

If the lock is lost meanwhile (the database could not be reached in time, the machine slept, an operator freed it,
--hold-limit is over), it says so and exits with 70. It stops nothing: the script must check.

When the script that started it ends, in whatever way, its end of the pipe is closed, and the lock is released. If standard
output is a pipe without a reader while rowlock waits for the lock, it gives up, as by SIGPIPE. The standard input of a
background job of a script is /dev/null, which ends at once, as a closed one does: give it a pipe.

## OPTIONS

## EXIT STATUS
 0    the lock was held, and was released
 64   the command line, the name of the lock or a URL is wrong
 69   the database cannot be reached, or does not answer
 70   the lock was lost while it was held (--lost-exit)
 74   standard output cannot be written to
 75   the lock was not acquired in time (--busy-exit)
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate

@waiting
@environment

## EXAMPLES
A section of a script, in sh, dash, bash and zsh:
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

If the whole script may hold the lock, it can start itself again with rowlock run:
 [ "${1-}" = locked ] || exec rowlock run deploy sh "$0" locked "$@"
 shift)";

inline constexpr std::string_view about_lead = R"(## DESCRIPTION
Keeps COMMAND running on exactly one of several hosts: start the same line on each of them. It waits for the lock NAME,
without a time limit, and runs COMMAND while it holds it, as rowlock run does; the others stand by.

If the lock is lost while COMMAND runs (the database could not be reached in time, the machine slept, an operator freed it),
COMMAND and its descendants receive SIGTERM, and SIGKILL after --grace. Then rowlock waits for the lock again. If rowlock is
killed, they receive the same. If it or its host dies, the next host acquires the lock when the lease ends.

When COMMAND ends by itself, rowlock releases the lock and exits with its status; another host that waits runs COMMAND then.
With --restart, rowlock keeps the lock and starts COMMAND again.

SIGTERM, SIGINT and SIGQUIT end it, and SIGHUP if its terminal is gone: they are passed on to COMMAND, which receives SIGKILL
after --grace; then rowlock releases the lock, so that the next host acquires it at once, and exits. So it does when it has used
up its own processor time. SIGHUP from a process, SIGUSR1, SIGUSR2, SIGALRM and SIGCONT are only passed on. While it waits for
the lock or pauses, each of these except SIGCONT ends it.

Terminals, process groups and the words of COMMAND are as in rowlock run. A rowlock run or a program that asks for NAME is
excluded, too.

## OPTIONS

## EXIT STATUS
That of COMMAND, or
 64   the command line, the name of the lock or a URL is wrong
 69   the database does not answer as it should
 70   rowlock received a signal to end, and had lost the lock before COMMAND ended
 77   no permission: for the file, the database or the tables
 78   rowlock's tables are missing, or of another version: see migrate
 126  COMMAND was found but cannot be executed, also with --restart
 127  COMMAND was not found, also with --restart
 128+n  signal n ended COMMAND

## ENVIRONMENT OF THE COMMAND
ROWLOCK_NAME is the lock's name. ROWLOCK_TOKEN is its fencing token, the leader's term: it grows with every leader, and does
not change when --restart starts COMMAND again.

## WAITING
Waiters are in a queue in the database, which rowlock show prints. A released lock goes to the first of the queue, unless a
newcomer is faster; with --fair this rowlock overtakes no waiter. If the database cannot be reached, rowlock says so and tries
again until it can, but only for one minute if the database has not answered since the start.

@environment

## EXAMPLES
The only worker of a queue, on two hosts; if one dies, the other takes over:
 rowlock lead --restart billing/worker -- /usr/local/bin/worker

The leader, and the hosts that stand by:
 rowlock show billing/worker)";

}  // namespace rowlock::command
