#!/usr/bin/env bash
# tests/model/run.sh [<model>...]: explores the models in this folder with spin, all of each, and their mutants, each of
# which must be found. In the heading of a model are its variants and mutants, by the macros that make them.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
models=("$@")
[[ $# -gt 0 ]] || models=(*.pml)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

failed=0

# explore <optimisation> <model> <macro>...: into ./log. pan says so there if it has left anything out.
explore() {
    local optimisation=$1 model=$2
    shift 2
    rm -f pan pan.* ./*.trail
    spin -a "${@/#/-D}" "$here/$model.pml" >log 2>&1 &&
        gcc "$optimisation" -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c >>log 2>&1 &&
        { ./pan -m100000 -w23 >>log 2>&1 || true; }
}

# Without an error, and with nothing left out; or what was found.
outcome() {
    if grep -q '^pan:1: assertion violated' log; then
        echo violated
    elif grep -q '^pan:1: invalid end state' log; then
        echo stuck
    elif grep -q '^Full statespace search' log && grep -q 'errors: 0$' log &&
        ! grep -qiE 'not completed|too small|MEMLIM|aborted' log; then
        echo complete
    else
        echo incomplete
    fi
}

# expect <outcomes> <model> <macro>... What is found is found at once, so compiling is most of it.
expect() {
    local expected=$1 result optimisation=-O0
    shift
    [[ $expected != complete ]] || optimisation=-O2
    explore "$optimisation" "$@" || true
    result=$(outcome)
    printf '%-44s %-12s %9s states %6s s\n' "$*" "$result" \
        "$(awk '/states, stored/ { print $1 }' log)" "$(awk '/elapsed time/ { print $4 }' log)"
    if [[ " $expected " != *" $result "* ]]; then
        echo "Expected of it: $expected" >&2
        tail -n 40 log >&2
        failed=1
    fi
}

for model in "${models[@]}"; do
    model=$(basename "$model" .pml)
    expect complete "$model"
    while read -r kind macros; do
        read -ra macros <<<"${macros%%:*}"
        case $kind in
            variant) expect complete "$model" "${macros[@]}" ;;
            mutant) expect 'violated stuck' "$model" "${macros[@]}" ;;
        esac
    done < <(sed -nE 's/^ \* (variant|mutant) /\1 /p' "$here/$model.pml")
done
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"
exit $failed
