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
    [[ " $components " != *" mysql "* ]] || depends_on librowlock-dev "$mysql_package"
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
    [[ $(dpkg-deb --info "$package" triggers) == "activate-noawait ldconfig" ]] || fail "No trigger for ldconfig"
}

# Whoever packed it, and with whatever umask, it belongs to root and everybody may read it.
check_permissions() {
    local odd
    odd=$(dpkg-deb --contents "$1" | grep -vE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root/root ' || true)
    [[ -z $odd ]] || fail "$1 has odd permissions: $odd"
}

# check_papers <file> <package>: a description of several lines, a copyright file that Debian's tools can read, a changelog.
check_papers() {
    local description=$scratch/description papers=$scratch/papers/usr/share/doc/$2
    dpkg-deb --field "$1" Description >"$description"
    [[ $(sed 1q "$description") == "named locks on a database - "* ]] || fail "$2 is described as: $(<"$description")"
    [[ $(grep -c '^ ' "$description") -gt 7 ]] || fail "$2 has a short description: $(<"$description")"
    rm -rf "$scratch/papers"
    dpkg-deb --extract "$1" "$scratch/papers"
    grep -qx 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' "$papers/copyright" ||
        fail "$2 has no good copyright file"
    grep -qx "Copyright: $(sed -n 's/^Copyright (c) //p' "$root/LICENSE")" "$papers/copyright" || fail "$2 names no holder"
    sed -n '/^License: Expat$/,$p' "$papers/copyright" | sed -n '/^ /{s/^ \.$//; s/^ //; p}' |
        diff <(sed '1,/^Copyright/d' "$root/LICENSE" | sed 1d) - || fail "$2 has another licence than LICENSE"
    [[ $(zcat "$papers/changelog.gz" | dpkg-parsechangelog -l - -S Version) == "$version" ]] || fail "$2 has no good changelog"
}

# What can be installed at once has no file in common.
check_files_are_of_one_package() {
    local package common
    common=$(for package in "$scratch"/packages/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -t | grep -v '/$'; done |
        sort | uniq -d)
    [[ -z $common ]] || fail "In several packages are: $common"
}

keep_manifests
(umask 077 && quietly "$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/packages")
check_names
[[ $is_shared == OFF ]] || check_runtime
check_dependencies
for package in "$scratch"/packages/*.deb; do
    check_permissions "$package"
    name=${package##*/}
    check_papers "$package" "${name%%_*}"
    dpkg-deb --extract "$package" "$scratch/root"
done
check_files_are_of_one_package

# CPack writes a postinst besides the trigger, and one package has the libraries of all databases.
! command -v lintian >/dev/null || quietly lintian --allow-root --fail-on error,warning \
    --suppress-tags maintscript-calls-ldconfig,package-name-doesnt-match-sonames "$scratch"/packages/*.deb

# What programs find there, package_install tries in all its forms.
prefix=$scratch/root/usr
check_find_package "$prefix" rowlock::rowlock
check_pkg_config "$prefix" rowlock
check_command "$prefix"
check_manual "$prefix"
check_guides "$prefix"
