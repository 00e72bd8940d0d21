#!/usr/bin/env bash
# The installed tree serves find_package and pkg-config, although it was moved after it was installed.
source "${BASH_SOURCE[0]%/*}/common.sh"

check_answers() {
    quietly configure_consumer "$prefix" answers -DIS_SHARED="$is_shared" -DINSTALLED="${components// /;}"
    if configure_consumer "$prefix" find_package -DASKED_FOR="COMPONENTS;nonsense" >"$scratch/log" 2>&1; then
        fail "A component that does not exist was found"
    fi
    grep -q 'no component nonsense;' <(tr -s ' \n' ' ' <"$scratch/log") ||
        fail "It was not said which component does not exist: $(<"$scratch/log")"
}

# A shared library finds its sister, as when a plug-in brings it along.
check_shared_libraries() {
    local library missing
    while IFS= read -r library; do
        missing=$(ldd "$library" | grep 'not found' || true)
        [[ -z $missing ]] || fail "$library needs $missing"
    done < <(find "$prefix" -name 'librowlock_*.so')
}

prefix=$scratch/moved
quietly "$cmake" --install "$build" --prefix "$scratch/installed"
mv "$scratch/installed" "$prefix"
for path in "$scratch" "$build" "$root"; do
    if grep -rlF "$path" --include='*.cmake' --include='*.pc' "$prefix"; then fail "These files name $path"; fi
done
[[ -z $(find "$prefix/include" -type f -not -name '*.hpp') ]] || fail "Not only headers are in $prefix/include"
cmp "$root/schema/sqlite/0001_lock.sql" "$prefix/share/rowlock/schema/sqlite/0001_lock.sql"

check_find_package "$prefix" rowlock::sqlite COMPONENTS sqlite
check_find_package "$prefix" rowlock::rowlock
check_answers
check_pkg_config "$prefix" rowlock-sqlite
check_pkg_config "$prefix" rowlock
check_servers "$prefix"
check_command "$prefix"
check_shared_libraries
