#!/usr/bin/env bash
# run.sh <page> sqlite|postgresql|mysql: runs what a page tells people to type, in this folder, which is empty: its ```sh
# blocks one after the other, in one shell that ends at the first failure, and in between the lines of its ```crontab
# blocks, as cron would; for a server, as cron on two hosts would: each program is run by one of them. For a server these are the blocks that say "for postgresql" or "for mysql"; those "for mariadb"
# only where it is one. Folders of the system that a page names are made below this one, and a program that it names in
# them is one that notes that it was run.
set -euo pipefail

page=$1 database=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
source "$here/servers.sh"

top=$PWD
mkdir -p etc usr/local/bin var/lib/rowlock home/me
cd home/me
export HOME=$PWD PATH=$here:$PATH
unset ROWLOCK_DATABASE ROWLOCK_DATABASE_FILE
folders='/etc/rowlock|/usr/local/bin|/var/lib/rowlock|/home/me'

# What is made on a server gets names of its own: the server may be somebody's, and others may be at the same.
address=
names='ops_locks|ops_owner|ops_jobs|shop|orders|rowlock_app|the_role'
as_here() { sed -E "s#($folders)#$top\\1#g; s/\\b($names)\\b/\\1_$$/g; s/\\bdb\\.example\\.org\\b/$address/g" "$@"; }

blocks() {
    awk -v wanted="$1" '
        BEGIN { split(wanted, each, "|"); for (i in each) is_wanted[each[i]] = 1 }
        !/^```/ { if (kind != "") print; next }
        kind == "crontab" { print "CRONTAB" }
        is_open { is_open = 0; kind = ""; next }
        { is_open = 1; info = substr($0, 4); kind = info; sub(/ .*/, "", kind) }
        !(info in is_wanted) { kind = "" }
        kind == "crontab" { print "as_cron " hosts " <<\"CRONTAB\"" }' hosts="$hosts" "$2"
}

case $database in
sqlite) wanted='sh|crontab' hosts=1 ;;
*)
    hosts=2
    wanted="sh for $database|crontab for $database"
    "start_with_$database"
    trap "end_with_$database" EXIT
    ;;
esac
cp -R "$root/schema" .
find schema -name '*.sql' | while IFS= read -r file; do as_here -i "$file"; done

# What is left in the background by a failure would keep the output open.
{ echo 'trap "[ -z \"\${!-}\" ] || kill \$! 2>/dev/null || true" EXIT'; blocks "$wanted" "$page" | as_here; } >"$top/blocks.sh"
programs=$(grep -oE "$top(/usr/local/bin|/home/me)/[a-z.-]+" "$top/blocks.sh" | grep -v '[.]db$' | sort -u || true)
for program in $programs; do
    printf '#!/bin/sh\necho "$0" >>%s/was_run\n' "$top" >"$program"
    chmod +x "$program"
done
sh -eux "$top/blocks.sh"
for program in $programs; do
    times=$(grep -cxF "$program" "$top/was_run" || true)
    [[ $times == 1 ]] || { echo "$program was run $times times" >&2 && exit 1; }
done
