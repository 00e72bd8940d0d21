#!/usr/bin/env bash
# report_test.sh file <flash_sale>      what --report writes, and where it refuses to
# report_test.sh browser <flash_sale>   what a browser without any network shows of it; 77: there is no chromium
set -euo pipefail

kind=$1 flash_sale=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=(none unique_index for_update version_cas lock_in optimistically)
processes=2 threads=4

fail() {
    echo "$*" >&2
    exit 1
}

# same <what> <expected> <actual>
same() { [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"; }

# sell <argument>...: a small sale with a report, its table in sale.txt. Without a lock it oversells nearly always.
sell() {
    local attempt
    for attempt in 1 2 3 4 5; do
        "$flash_sale" --processes "$processes" --threads "$threads" --report report.html "$@" >sale.txt ||
            fail "flash_sale failed at attempt $attempt: $(cat sale.txt)"
        [[ $(printed none oversold) == 0 ]] || return 0
    done
    fail "The run without a lock did not oversell: nothing would be red."
}

# printed <run> sold|oversold|all: what the program printed, without units.
printed() {
    local row
    row=$(sed "s/ ms//g" sale.txt | awk -v run="$1" '$1 == run { $1 = ""; print substr($0, 2); exit }')
    case $2 in
    sold) cut -d ' ' -f 1 <<<"$row" ;;
    oversold) cut -d ' ' -f 2 <<<"$row" ;;
    all) echo "$row" ;;
    esac
}

# The page's source of one run.
source_of() { awk -v begin="data-run=\"$1\"" 'index($0, begin) { found = 1 } found; found && /<\/section>/ { exit }' report.html; }

# Bars are subpaths: how many there are of that kind.
bars_in_source() {
    { source_of "$1" | grep --only-matching "class=\"$2\" d=\"[^\"]*\"" || true; } | sed 's/.* d="//' |
        { grep --only-matching '[Mm]' || true; } | wc --lines
}

figures_in_source() {
    source_of "$1" | grep --only-matching '<dd[^>]*>[^<]*' | sed 's/<dd[^>]*>//; s/ ms//' | paste --serial --delimiters=' '
}

# --- without a browser ------------------------------------------------------------------------------------------------

# Before anything runs.
refuses() {
    local file=$1 sentence=$2
    ! "$flash_sale" --units 5 --report "$file" >refused.out 2>refused.err || fail "--report $file was not refused"
    grep --quiet --fixed-strings "$sentence" refused.err || fail "--report $file: $(cat refused.err)"
    [[ ! -s refused.out ]] || fail "--report $file: the sale ran: $(cat refused.out)"
}

loads_nothing() {
    ! grep --extended-regexp --ignore-case --max-count=1 'https?:|url\(|@import|<(img|link|iframe|object|embed)|(src|href)=' \
        report.html || fail "the page refers to something else"
    grep --quiet "default-src 'none'" report.html || fail "the page does not forbid the browser to load"
}

is_small() {
    local size
    size=$(stat --format=%s report.html)
    [[ $size -lt 2000000 ]] || fail "the page has $size bytes"
}

shows_what_was_printed() {
    local run
    for run in "${runs[@]}"; do
        same "figures of $run" "$(printed "$run" all)" "$(figures_in_source "$run")"
        same "oversold units of $run" "$(printed "$run" oversold)" "$(bars_in_source "$run" oversold)"
        same "orders of $run" "$(printed "$run" sold)" "$(bars_in_source "$run" order)"
    done
}

# All of it is sampled, but what is red is what is oversold in the sample.
stays_small() {
    sell --strategy none --units 6000
    is_small
    grep --quiet 'only the last part was recorded' report.html || fail "a long run is recorded as a whole"
    same "red of what was recorded" "data-recorded-oversold=\"$(bars_in_source none oversold)\"" \
        "$(grep --only-matching 'data-recorded-oversold="[0-9]*"' report.html)"
    [[ $(bars_in_source none oversold) -gt 1000 ]] || fail "hardly anything is red"
}

test_file() {
    refuses missing/report.html 'its folder does not exist'
    refuses . 'is no regular file'
    echo 'what was there before' >report.html
    sell --units 100
    ! grep --quiet 'what was there before' report.html || fail "the file was not replaced"
    same "files beside the report" '' "$(find . -name 'report.html?*')"
    same "last line of the report" '</html>' "$(tail -n 1 report.html)"
    loads_nothing
    is_small
    shows_what_was_printed
    stays_small
}

# --- in a browser -----------------------------------------------------------------------------------------------------

# show <page> <option>...: the page as the browser has it then; what it said is in console.txt. No name resolves, and
# the proxy is nowhere.
show() {
    local page=$1
    shift
    timeout 100 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" \
        --no-first-run --disable-background-networking --host-resolver-rules='MAP * ~NOTFOUND' --proxy-server=127.0.0.1:9 \
        --enable-logging=stderr "$@" --dump-dom "file://$PWD/$page" 2>console.txt || fail "$chromium failed: $(tail console.txt)"
}

complaints() { grep 'CONSOLE' console.txt || true; }

# probe <option>...: what report_probe.js finds is in probe.txt.
probe() {
    { cat report.html && echo '<script>' && cat "$here/report_probe.js" && echo '</script>'; } >probed.html
    show probed.html "$@" | sed -n '/<pre id="probe">/,/<\/pre>/p' >probe.txt
    same "what the browser complains about" '' "$(complaints)"
    [[ -s probe.txt ]] || fail "the probe did not run"
}

found() { sed -n "s/^$1 //p" probe.txt; }

test_run() {
    local run=$1
    same "lanes of $run" $((processes * threads)) "$(found "lanes $run")"
    same "figures of $run" "$(printed "$run" all)" "$(found "figures $run" | sed 's/ ms//g')"
    same "oversold units of $run" "$(printed "$run" oversold)" "$(found "oversold $run")"
    same "they are red in $run" true "$(found "red $run")"
    same "axis of $run" true "$(found "ticks $run")"
    [[ $(found "bars $run") -ge $(printed "$run" sold) ]] || fail "$run has fewer bars than orders"
    if [[ $run == none ]]; then
        same "waits without a lock" 0 "$(found "waits $run")"
    else
        [[ $(found "waits $run") -ge $(printed "$run" sold) ]] || fail "$run has fewer waits than orders"
    fi
}

test_page() {
    local run
    for run in "${runs[@]}"; do test_run "$run"; done
    same "zooming" true "$(found zoomed)"
    same "the whole run" true "$(found whole)"
    [[ $(found tip) == process*'sells an oversold unit'* ]] || fail "a red bar says: $(found tip)"
    same "legend" 6 "$(found legend)"
    same "what was loaded" 0 "$(found loaded)"
    same "no sideways scrolling" true "$(found fits)"
}

# That complaints are heard at all.
test_complaints() {
    { cat report.html && echo '<img src="http://rowlock.invalid/picture.png" alt="">'; } >loading.html
    show loading.html >dom.txt
    [[ $(complaints) == *'Content Security Policy'* ]] || fail "a page that loads something is not noticed"
}

test_browser() {
    chromium=$(command -v chromium) || {
        echo "Skipped: chromium is not installed." >&2
        exit 77
    }
    sell --units 100
    probe --window-size=1280,1000
    test_page
    same "paper by day" 'rgb(255, 255, 255)' "$(found paper)"
    probe --window-size=500,900 --blink-settings=preferredColorScheme=0
    test_page
    same "paper by night" 'rgb(14, 17, 22)' "$(found paper)"
    test_complaints
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"test_$kind"
