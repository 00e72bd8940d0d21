#!/usr/bin/env bash
# cpack makes Debian packages that say what they need, and what is in them runs and can be built with.
source "${BASH_SOURCE[0]%/*}/common.sh"

runtime=librowlock$series

for tool in dpkg-deb dpkg-shlibdeps file; do
    if ! command -v "$tool" >/dev/null; then
        echo "Skipped: there is no $tool here; Debian packages can only be made on Debian, with dpkg-dev and file."
        exit 77
    fi
done

# depends_on <package> <extended regular expression>
depends_on() {
    local depends
    depends=$(dpkg-deb --field "$scratch/packages/${1}_$version"_*.deb Depends)
    grep -qE "(^|, )$2(,|$)" <<<"$depends" || fail "$1 depends on: $depends; $2 is missing"
}

check_names() {
    local found expected=librowlock-dev
    [[ $is_shared == OFF ]] || expected+=" $runtime"
    [[ $has_command != 1 ]] || expected+=' rowlock'
    found=$(cd "$scratch/packages" && printf '%s\n' *.deb | sed 's/_.*//' | xargs)
    [[ $found == "$expected" ]] || fail "The packages are $found and not $expected"
}

check_dependencies() {
    depends_on librowlock-dev libsqlite3-dev
    [[ " $components " != *" postgresql "* ]] || depends_on librowlock-dev libpqxx-dev
    [[ " $components " != *" mysql "* ]] || depends_on librowlock-dev libmysqlcppconn-dev
    if [[ $is_shared == ON ]]; then
        depends_on "$runtime" 'libsqlite3-0 .*'
        depends_on librowlock-dev "$runtime \\(= $version\\)"
        [[ $has_command != 1 ]] || depends_on rowlock "$runtime \\(= $version\\)"
    elif [[ $has_command == 1 ]]; then
        depends_on rowlock 'libsqlite3-0 .*'
    fi
}

# Packages of programs that were linked with it find out that they need it, and the linker that it is there.
check_runtime() {
    local package
    package=$(find "$scratch/packages" -maxdepth 1 -name "$runtime*.deb")
    dpkg-deb --info "$package" shlibs | grep "^librowlock_sqlite $series $runtime " >/dev/null || fail "No good shlibs"
    dpkg-deb --info "$package" postinst | grep ldconfig >/dev/null || fail "No ldconfig in the postinst"
}

# Whoever packed it, and with whatever umask, it belongs to root and everybody may read it.
check_permissions() {
    local odd
    odd=$(dpkg-deb --contents "$1" | grep -vE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root/root ' || true)
    [[ -z $odd ]] || fail "$1 has odd permissions: $odd"
}

(umask 077 && quietly "$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/packages")
check_names
[[ $is_shared == OFF ]] || check_runtime
check_dependencies
for package in "$scratch"/packages/*.deb; do
    check_permissions "$package"
    dpkg-deb --extract "$package" "$scratch/root"
done

prefix=$scratch/root/usr
check_find_package "$prefix" rowlock::sqlite COMPONENTS sqlite
check_pkg_config "$prefix" rowlock-sqlite
check_servers "$prefix"
check_command "$prefix"
check_manual "$prefix"
