# To be sourced. need_packages <package>...: installs what is missing of them, and does nothing where nothing is.

build_packages=(g++ cmake ninja-build libsqlite3-dev libpqxx-dev libpq-dev libmysqlcppconn-dev libcli11-dev libfmt-dev
    nlohmann-json3-dev libncurses-dev)
test_packages=(libgtest-dev libgmock-dev libasio-dev sqlite3 postgresql pgbouncer mariadb-server-core
    mariadb-client-core galera-4 libmariadb-dev pkg-config dpkg-dev faketime file groff-base libvterm-dev spin valgrind
    zsh fish)
bench_packages=(postgresql mariadb-server-core mariadb-client-core redis-server libhiredis-dev gnuplot-nox)
site_packages=(chromium doxygen mkdocs-material)

missing_packages() {
    local package status
    for package in "$@"; do
        status=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null) || status=
        grep -qx installed <<<"$status" || printf '%s\n' "$package"
    done
}

# Packages of servers start them, which nobody asked for. Debian asks this file before it starts one.
policy=/usr/sbin/policy-rc.d
write_policy='set -C; printf "#!/bin/sh\nexit 101\n" >"$0" && chmod 755 "$0"'

# install_packages <package>...: by as_root. In a subshell, so that its traps are its own.
install_packages() (
    if [[ ! -e $policy ]] && "${as_root[@]}" sh -c "$write_policy" "$policy"; then
        trap '"${as_root[@]}" rm -f "$policy"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM HUP
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
)

need_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian: nothing was installed. Needed, by Debian's names: $*" >&2
        return 0
    fi
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0

    local as_root=()
    if [[ $(id -u) -ne 0 ]]; then
        if ! command -v sudo >/dev/null; then
            echo "These packages are missing, and only root may install them: ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]}" >&2
    local log
    log=$(mktemp)
    if ! install_packages "${missing[@]}" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -f "$log"
        echo "Could not install ${missing[*]}" >&2
        return 1
    fi
    rm -f "$log"
}
