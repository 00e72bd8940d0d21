# To be sourced. CMakeLists.txt gives:
#
#   root, build   the sources, and the build folder that is tested
#   cmake, cpack  the programs
#   version       rowlock's
#   components    core and the databases that were built, with spaces between them
#   is_shared     ON or OFF
#   mysql_package what Debian names the connector of the backend for MySQL
#   has_command   1 where the command was built

set -euo pipefail
exec </dev/null
unset CMAKE_PREFIX_PATH CMAKE_INSTALL_PREFIX DESTDIR LD_LIBRARY_PATH PKG_CONFIG_PATH

here=$root/tests/package
series=${version%.*}
scratch=$(mktemp -d)

trap 'rm -rf "$scratch"' EXIT

# Installing notes in the build folder what it installed. Those notes are for the user's own installs.
move_manifests() { find "$1" -maxdepth 1 -name 'install_manifest*.txt' -exec mv -t "$2" {} +; }
# Of a script that installs or packs the build folder; no two of them at once.
keep_manifests() {
    mkdir "$scratch/kept"
    move_manifests "$build" "$scratch/kept"
    trap 'rm -f "$build"/install_manifest*.txt; move_manifests "$scratch/kept" "$build"; rm -rf "$scratch"' EXIT
}

fail() {
    echo "$*" >&2
    exit 1
}

# quietly <command>...: shows what it printed only where it failed.
quietly() {
    if ! "$@" >"$scratch/log" 2>&1; then
        cat "$scratch/log" >&2
        fail "Failed: $*"
    fi
}

# make_release: the recipes as packaging/release.cmake writes them, in $scratch/release, for an archive of these sources.
make_release() {
    local archive=$scratch/rowlock-$version.tar.gz
    tar -C "$root" --exclude=./build --exclude=./.git --transform "s,^[.],rowlock-$version," -czf "$archive" .
    quietly "$cmake" -DARCHIVE="$archive" -DURL="file://$archive" -DHOMEPAGE=https://rowlock.invalid -DTO="$scratch/release" \
        -P "$root/packaging/release.cmake"
    ! grep -rn '@[A-Z0-9]*@' "$scratch/release" || fail "release.cmake left that as it was"
}

# check_consumer <program>: it takes a lock twice, and the token grows.
check_consumer() {
    local url=sqlite:$scratch/locks.db first second
    first=$("$1" "$url")
    second=$("$1" "$url")
    [[ $second -gt $first ]] || fail "$1 got the token $first and then $second"
    rm "$scratch"/locks.db*
}

# configure_consumer <prefix> <project> [<argument>...]: into $scratch/consumer. It must not warn.
configure_consumer() {
    local prefix=$1 project=$2
    shift 2
    rm -rf "$scratch/consumer"
    "$cmake" --no-warn-unused-cli -S "$here/$project" -B "$scratch/consumer" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DSERIES="$series" "$@" 2>&1 |
        tee "$scratch/configured" || return 1
    ! grep 'CMake.* Warning' "$scratch/configured"
}

# check_find_package <prefix> <target> [COMPONENTS <component>...]
check_find_package() {
    local prefix=$1 target=$2 asked_for
    shift 2
    printf -v asked_for '%s;' "$@"
    quietly configure_consumer "$prefix" find_package -DTARGET="$target" -DASKED_FOR="$asked_for"
    grep -q "^rowlock_DIR:PATH=$prefix/" "$scratch/consumer/CMakeCache.txt" || fail "Another rowlock was found"
    quietly "$cmake" --build "$scratch/consumer"
    check_consumer "$scratch/consumer/consumer"
}

# check_reaches <server> <program> <url>: as far as to find nobody there.
check_reaches() {
    local said
    said=$("$2" "$3" 2>&1) && fail "$2 found a server where there is none"
    grep -q "^connecting to $1 (.*) failed: " <<<"$said" || fail "$2 said: $said"
}

# check_lacks_backend <program> <scheme>: the program was linked without what speaks to that.
check_lacks_backend() {
    local said
    said=$("$1" "$2://app@127.0.0.1:1/nothing" 2>&1) && fail "$1 connected with a backend that it does not have"
    grep -q "^this program \(is not linked with rowlock's backend for $2: URLs\|links rowlock::core alone\)" <<<"$said" || fail "$1 said: $said"
}

# build_by_pkg_config <prefix> <package>: into $scratch/by_pkg_config.
build_by_pkg_config() {
    local prefix=$1 package=$2 pc flags
    pc=$(find "$prefix" -name "$package.pc")
    export PKG_CONFIG_PATH=${pc%/*}
    flags=$(pkg-config --cflags --libs "$package")
    # shellcheck disable=SC2086
    quietly "$CXX" -std=c++20 "$here/consumer.cpp" $flags -o "$scratch/by_pkg_config"
}

# check_pkg_config <prefix> <package>
check_pkg_config() {
    local package=$2
    build_by_pkg_config "$@"
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir "$package") check_consumer "$scratch/by_pkg_config"
}

# check_server <prefix> <component> <server>: with that component alone.
check_server() {
    local prefix=$1 component=$2 server=$3 program url=$2://nobody@127.0.0.1:1/nothing
    [[ " $components " == *" $component "* ]] || return 0
    quietly configure_consumer "$prefix" find_package -DTARGET="rowlock::$component" -DASKED_FOR="COMPONENTS;$component"
    quietly "$cmake" --build "$scratch/consumer"
    build_by_pkg_config "$prefix" "rowlock-$component"
    for program in "$scratch/consumer/consumer" "$scratch/by_pkg_config"; do
        LD_LIBRARY_PATH=$(pkg-config --variable=libdir "rowlock-$component") check_reaches "$server" "$program" "$url"
        LD_LIBRARY_PATH=$(pkg-config --variable=libdir "rowlock-$component") check_lacks_backend "$program" sqlite
    done
}

# check_servers <prefix>
check_servers() {
    check_server "$1" postgresql PostgreSQL
    check_server "$1" mysql MySQL
}

# check_manual <prefix>: pages without errors, of the program and of each subcommand that its own page names, and the
# completions that the program prints.
check_manual() {
    local program=$1/bin/rowlock page subcommand subcommands shell
    local -A completions=([bash]=bash-completion/completions/rowlock [zsh]=zsh/vendor-completions/_rowlock
        [fish]=fish/vendor_completions.d/rowlock.fish)
    [[ $has_command == 1 ]] || return 0
    subcommands=$("$program" help --man | sed -n '/^\.SH SEE ALSO/{n;s/rowlock\\-\([a-z]*\)(1),*/\1/gp}')
    [[ " $subcommands " == *" run "* ]] || fail "rowlock(1) names the pages: $subcommands"
    for subcommand in "" $subcommands; do
        page=$1/share/man/man1/rowlock${subcommand:+-$subcommand}.1
        [[ ! -f $page.gz ]] || gunzip "$page.gz"  # Debian's packages have them compressed
        # shellcheck disable=SC2086
        cmp "$page" <("$program" help --man $subcommand) || fail "$page is not what the program prints"
        ! command -v groff >/dev/null || [[ -z $(groff -man -ww -z "$page" 2>&1) ]] || fail "$page has errors"
    done
    for shell in "${!completions[@]}"; do
        cmp "$1/share/${completions[$shell]}" <("$program" help --completion "$shell") ||
            fail "The completion for $shell is not what the program prints"
    done
}

# check_command <prefix>: the program runs without being told where its libraries are.
check_command() {
    local program=$1/bin/rowlock url=sqlite:$scratch/locks.db
    [[ $has_command == 1 ]] || return 0
    [[ $("$program" --version) == "rowlock $version" ]] || fail "$program --version said something else"
    quietly "$program" --database "$url" migrate
    quietly "$program" --database "$url" run job -- "$program" --database "$url" show job
    quietly "$program" --database "$url" list
    rm "$scratch"/locks.db*
}

# links_of <page>: outside of its blocks, those that lead to files.
links_of() {
    awk '/^```/ { inside = !inside } !inside' "$1" | grep -oE '\]\([^)]+\)' | sed -E 's/^..//; s/.$//; s/#.*//' |
        grep -vE '^([a-z]+:|$)' || true
}

# check_guides <prefix>: what is read beside the program is there, and its links lead to files.
check_guides() {
    local folder=$1/share/doc/rowlock page link wanted count=0
    for page in LICENSE "$root"/*.md "$root"/docs/*.md "$root"/packaging/*.md; do
        page=${page#"$root/"}
        [[ -f $folder/$page ]] || fail "$page is not installed"
    done
    for wanted in "$root"/examples/*.cpp "$root"/packaging/grafana/*.json "$root"/packaging/prometheus/*.yml; do
        cmp "$wanted" "$folder/${wanted#"$root/"}" || fail "$wanted is not installed as it is"
    done
    diff -r "$root/docs/systemd" "$folder/examples/systemd" || fail "Not the units of the guides are installed"
    diff -r "$root/schema" "$1/share/rowlock/schema" || fail "Not all of the schema is installed"
    while IFS= read -r page; do
        while IFS= read -r link; do
            [[ -e ${page%/*}/$link ]] || fail "$page links to $link, which is not installed"
            count=$((count + 1))
        done < <(links_of "$page")
    done < <(find "$folder" -name '*.md')
    [[ $count -gt 20 ]] || fail "Only $count links were found in the guides"
    [[ -z $(find "$folder" -xtype l -o -type d -empty) ]] || fail "Links to nothing, or empty folders, are in $folder"
}
