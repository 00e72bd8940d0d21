#!/usr/bin/env bash
# debian.sh <suite> <page>...: types what each page says, in a fresh Debian of that suite that has nothing else: the ```sh
# blocks and those "for debian", in one shell that ends at the first failure. A block that begins with `sudo apt-get
# update` begins a new system. A ```cpp program whose first line is `// <file>` is put in that file. Blocks "for debian,
# at length" are left out unless ROWLOCK_TEST_TIER is all. A warning of the compiler is a failure. What README.md builds is
# left in build/<suite>, for .ci/in_debian. As root.
set -euo pipefail

suite=$1
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
made=$root/../shared/servers/debian-root

scratch=$(mktemp -d /var/tmp/rowlock-debian.XXXXXX)
system=$scratch/system
end_system() {
    mountpoint --quiet "$system/proc" && umount "$system/proc"
    mountpoint --quiet "$system/dev" && umount "$system/dev"
    mountpoint --quiet "$system" && umount "$system"
    rm -rf --one-file-system "$system" "$scratch/changes" "$scratch/work"
} 2>/dev/null
trap 'end_system; rm -rf --one-file-system "$scratch"' EXIT
trap 'exit 143' HUP INT TERM

# A copy of its own of all that is not what the blocks install; with the sources, in the home of whoever types.
begin_system() {
    end_system || true
    mkdir "$system" "$scratch/changes" "$scratch/work"
    mount -t overlay -o "lowerdir=$base,upperdir=$scratch/changes,workdir=$scratch/work" none "$system" 2>/dev/null ||
        cp -a --one-file-system "$base/." "$system"
    mount --bind /proc "$system/proc"
    mount --bind /dev "$system/dev"
    printf '#!/bin/sh\nexec "$@"\n' >"$system/usr/local/bin/sudo"
    chmod +x "$system/usr/local/bin/sudo"
    printf '%s;\n' 'APT::Get::Assume-Yes "true"' 'Acquire::Retries "5"' 'Acquire::Check-Valid-Until "false"' \
        >"$system/etc/apt/apt.conf.d/here"
    install -d "$system/root/rowlock"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -c --files-from=-) |
        tar -x -C "$system/root/rowlock"
}

# blocks <page>: what to type, one file for each system: <scratch>/typed.1, .2, ...
blocks() {
    awk -v to="$scratch/typed." -v at_length="$([[ ${ROWLOCK_TEST_TIER-} == all ]] && echo ", at length")" '
        function out(line) { if (n) print line >(to n); else before = before line "\n" }
        BEGIN { n = 0 }
        !/^```/ && kind == "" { next }
        /^```/ && kind != "" { if (writes) out("PROGRAM"); kind = ""; writes = 0; next }
        /^```/ { kind = substr($0, 4); sub(at_length "$", "", kind); first = 1; next }
        kind == "cpp" && first && /^\/\/ [a-z_]+\.cpp$/ { writes = 1; out("cat >" $2 " <<\"PROGRAM\"") }
        kind == "cpp" { if (writes) out($0); first = 0; next }
        kind == "sh for debian" && first && /^sudo apt-get update$/ { n++; printf "%s", before >(to n); before = "" }
        (kind == "sh" || kind == "sh for debian") && n > 0 { out($0) }
        { first = 0 }' "$1"
}

base=$(env --unset=TMPDIR ROWLOCK_ROOTS=/var/tmp/rowlock-roots/pristine "$made" "$suite" ca-certificates)
for page in "$@"; do
    rm -f "$scratch"/typed.*
    blocks "$root/$page"
    [[ -e $scratch/typed.1 ]] || { echo "$page tells nothing to type on Debian" >&2 && exit 1; }
    for typed in "$scratch"/typed.*; do
        begin_system
        cp "$typed" "$system/root/typed"
        begin=$SECONDS
        if ! chroot "$system" env -i HOME=/root PATH="$PATH" DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 \
            sh -c 'cd /root/rowlock && sh -eux ../typed' >"$scratch/log" 2>&1 </dev/null; then
            cat "$scratch/log" >&2
            echo "$page, system ${typed##*.}: failed on $suite" >&2
            exit 1
        fi
        if grep 'warning: .*\[-W' "$scratch/log" >&2; then
            echo "$page, system ${typed##*.}: warnings on $suite" >&2
            exit 1
        fi
        if [[ $page == README.md ]]; then
            rm -rf "$root/build/$suite"
            mkdir -p "$root/build"
            mv "$system/root/rowlock/build/package" "$root/build/$suite"
        fi
        echo "$page, system ${typed##*.}: as it says on $suite, $((SECONDS - begin)) s"
    done
done
