#!/usr/bin/env bash
# Builds the benchmarks and runs them, side by side with what people use instead: the same SQL by hand, advisory locks, Redis.
#
#   ./bench.sh                    everything; takes most of an hour
#   ./bench.sh --quick            does it run? in less than five minutes after the build
#   ./bench.sh --only REGEX       what it finds in "database: case: subject"
#   ./bench.sh --json FILE        also writes the results there, a line of JSON for each
#   ./bench.sh --plot             then draws docs/images/*.svg and makes the tables of docs/performance.md anew, those of
#                                 which something was measured
#   ./bench.sh --plot-from FILE   only that, of what --json wrote
#   ./bench.sh --against FOLDER   what a change costs: the main cases, by turns with the benchmarks of the rowlock in that folder,
#                                 another checkout, which is built, too; with --only, other cases
#   ./bench.sh --database URL     that database instead of servers of its own; may be given several times
#   ./bench.sh --help             this, and the options of the program
#
# PostgreSQL, MariaDB and Redis, as Debian has them and with their defaults, run in a temporary folder for the time of the
# benchmark. TMPDIR says on which disk that is, which matters: every grant is committed there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/build.sh"
source "$root/.ci/servers.sh"

servers=(postgresql mariadb redis durable_redis)
results=$root/build/bench/results.jsonl
options=() help='' plot='' measure=yes against='' only=''
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) help=yes ;;
        --plot) plot=yes ;;
        --plot-from) plot=yes measure='' results=${2:?a file} && shift ;;
        --against) against=$(cd "${2:?a folder}" && pwd) && shift ;;
        --only) only=${2:?an expression} && shift ;;
        --json) results=${2:?a file} && shift ;;
        --database | --database=*) servers=(redis durable_redis) && options+=("$1") ;;
        *) options+=("$1") ;;
    esac
    shift
done

# In a folder of its own, because tests (and their packages) are left out here. What is measured is compiled as most will
# do.
need_packages "${build_packages[@]}" "${bench_packages[@]}"
for each in "$root" ${against:+"$against"}; do
    build_quietly "$each" bench benchmarks -DROWLOCK_UNITY=OFF -DROWLOCK_BUILD_TESTS=OFF -DROWLOCK_BUILD_EXAMPLES=OFF \
        -DROWLOCK_BUILD_BENCH=ON
done
programs=$root/build/bench/bin

if [[ -n $help ]]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exec "$programs/rowlock_bench" --help
fi

# Case by case, so that both meet the same machine; who begins changes, too.
by_turns() {
    local -A folder=([ours]=$root [theirs]=$against)
    local case each turn results=$root/build/bench/against cases=(
        'cycle, 1 thread, distinct names: rowlock unique_index$'
        'cycle, 64 threads, distinct names: rowlock unique_index$'
        'hot, 32 threads of one process, one name: rowlock unique_index(, fifo)?$'
        'hot, 2 processes, one name: rowlock unique_index(, fifo)?$'
        'hot, 8 processes, one name: rowlock unique_index(, fifo)?$'
        'wake, from one process to another: rowlock unique_index(, fifo)?$'
        'cycle lock_in, 1 thread: rowlock lock_in$')
    [[ -z $only ]] || cases=("$only")
    rm -rf "$results" && mkdir -p "$results"
    for turn in 1 2 3; do
        for case in "${cases[@]}"; do
            local who=(ours theirs)
            ((turn % 2)) || who=(theirs ours)
            for each in "${who[@]}"; do
                "${folder[$each]}/build/bench/bin/rowlock_bench" --only "$case" --json "$results/one" "${options[@]}" || return 1
                cat "$results/one" >>"$results/$each"
            done
        done
    done
    "$programs/rowlock_bench_report" against "$results/ours" "$results/theirs"
}

if [[ -n $against ]]; then
    export -f by_turns
    export root against only programs
    with_servers "${servers[@]}" -- bash -c 'options=("$@") && by_turns' bench "${options[@]}"
    exit
fi
[[ -z $only ]] || options+=(--only "$only")
if [[ -n $measure ]]; then
    with_servers "${servers[@]}" -- "$programs/rowlock_bench" --json "$results" "${options[@]}"
fi
if [[ -n $plot ]]; then
    "$programs/rowlock_bench_report" plots "$results" "$root/docs/images" | gnuplot
    "$programs/rowlock_bench_report" finish "$results" "$root/docs/images"
    "$programs/rowlock_bench_report" tables "$results" "$root/docs/performance.md"
fi
