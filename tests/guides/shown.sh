#!/usr/bin/env bash
# What the guides point to is there: every file that one shows, in a block "```ini of <file>", is that file to the letter,
# every unit is shown, and every link leads to a file and, behind "#", to a heading in it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

failed=0
fault() {
    echo "$1" >&2
    failed=1
}

# block <page> <info>
block() { awk -v info="\`\`\`$2" '/^```/ { inside = $0 == info; next } inside' "$1"; }

# anchors <page>: of its headings.
anchors() {
    awk '/^```/ { inside = !inside } !inside && /^#+ /' "$1" |
        sed -E 's/^#+ //' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

# links <page>: outside of its blocks, those that lead to files.
links() {
    awk '/^```/ { inside = !inside } !inside' "$1" | grep -oE '\]\([^)]+\)' | sed -E 's/^..//; s/.$//' |
        grep -v '^[a-z]*://' || true
}

shown=()
for page in README.md docs/*.md; do
    folder=$(dirname "$page")
    while IFS= read -r info; do
        file=$folder/${info#* of }
        block "$page" "$info" | diff "$file" - >&2 || fault "$page shows another text than $file has"
        shown+=("$file")
    done < <(sed -nE 's/^```([a-z]+ of .+)$/\1/p' "$page")
    while IFS= read -r link; do
        file=$folder/${link%%#*}
        [[ $link != '#'* ]] || file=$page
        if [[ ! -e $file ]]; then
            fault "$page links to $link, which is not there"
        elif [[ $link == *#* ]] && ! anchors "$file" | grep -qxF -e "${link#*#}"; then
            fault "$page links to $link, and there is no such heading"
        fi
    done < <(links "$page")
done
for file in docs/systemd/*; do
    [[ " ${shown[*]} " == *" $file "* ]] || fault "no guide shows $file"
done
exit "$failed"
