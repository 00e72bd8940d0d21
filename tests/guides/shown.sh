#!/usr/bin/env bash
# The guides and the pages at the root point to existing files: every file that one shows, in a block "```ini of <file>",
# is that file to the letter, every unit is shown, and every link leads to a file and, after "#", to a heading in it. Every
# guide is in the contents, docs/index.md, and the menu of the site has the same order.
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
for page in README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md; do
    [[ -e $page ]] || continue
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
for page in docs/*.md; do
    page=${page#docs/}
    [[ $page == index.md ]] || grep -qxE "$page(#.*)?" < <(links docs/index.md) || fault "docs/index.md does not link to $page"
done
# The menu of the site.
named=$(sed -nE 's#^.*: docs/(.*[.]md)$#\1#p' mkdocs.yml | grep -vx index.md)
diff <(echo "$named") <(links docs/index.md | sed 's/#.*//' | grep -xF "$named" | awk '!seen[$0]++') >&2 ||
    fault "mkdocs.yml names the guides in another order than docs/index.md"
exit "$failed"
