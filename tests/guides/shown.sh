#!/usr/bin/env bash
# Every file that a guide shows, in a block "```ini of <file>", is that file to the letter, and every unit is shown.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# block <page> <info>
block() { awk -v info="\`\`\`$2" '/^```/ { inside = $0 == info; next } inside' "$1"; }

shown=()
for page in README.md docs/*.md; do
    while IFS= read -r info; do
        file=$(dirname "$page")/${info#* of }
        block "$page" "$info" | diff "$file" - || { echo "$page shows another text than $file has" >&2 && exit 1; }
        shown+=("$file")
    done < <(sed -nE 's/^```([a-z]+ of .+)$/\1/p' "$page")
done
for file in docs/systemd/*; do
    [[ " ${shown[*]} " == *" $file "* ]] || { echo "no guide shows $file" >&2 && exit 1; }
done
