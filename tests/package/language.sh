#!/usr/bin/env bash
# A program that is compiled before C++20 gets one error, which says so. Each header compiles alone for C++20.
source "${BASH_SOURCE[0]%/*}/common.sh"

sentence="rowlock needs C++20: compile with -std=c++20 or later"

# compile <compiler> <standard> <file> [<flag>...]: what it says is in $scratch/said.
compile() {
    local compiler=$1 standard=$2 file=$3
    shift 3
    "$compiler" "-std=$standard" -fsyntax-only -Wall -Wextra "$@" -I"$root/include" "$file" >"$scratch/said" 2>&1
}

errors() { grep -E '(^|[^a-z])error:' "$scratch/said" || true; }

# check_refused <compiler> <standard> <header>
check_refused() {
    echo "#include <rowlock/$3>" >"$scratch/only.cpp"
    ! compile "$1" "$2" "$scratch/only.cpp" || fail "$1 took <rowlock/$3> for $2"
    [[ $(errors | wc -l) == 1 && $(errors) == *"$sentence"* ]] || fail "$1, $2, <rowlock/$3>: $(<"$scratch/said")"
}

# check_taken <compiler> <header>
check_taken() {
    echo "#include <rowlock/$2>" >"$scratch/only.cpp"
    compile "$1" c++20 "$scratch/only.cpp" -Werror || fail "$1, <rowlock/$2>: $(<"$scratch/said")"
}

# check_program <compiler>: the first error about a program that uses rowlock is the one about the language; with clang
# it is the only one.
check_program() {
    cp "$here/consumer.cpp" "$scratch/program.cpp"
    ! compile "$1" c++17 "$scratch/program.cpp" || fail "$1 took a program for C++17"
    [[ $(errors | head -n 1) == *"$sentence"* ]] || fail "$1 began with another error: $(<"$scratch/said")"
    if "$1" --version | grep -q clang; then
        [[ $(errors | wc -l) == 1 ]] || fail "$1 went on: $(<"$scratch/said")"
    fi
}

# is_for_a_driver_that_is_absent <header>
is_for_a_driver_that_is_absent() {
    case $1 in
    interop/pqxx.hpp | interop/detail/libpqxx.hpp) [[ " $components " != *" postgresql "* ]] ;;
    interop/mysql.hpp) [[ " $components " != *" mysql "* ]] ;;
    *) false ;;
    esac
}

mapfile -t headers < <(cd "$root/include/rowlock" && find . -name '*.hpp' -printf '%P\n' | sort)
[[ " ${headers[*]} " == *" rowlock.hpp "* ]] || fail "No headers were found: ${headers[*]}"
compilers=("$CXX")
for other in g++ clang++; do
    [[ $(command -v "$other") == "$(command -v "$CXX")" ]] || ! command -v "$other" >/dev/null || compilers+=("$other")
done

for compiler in "${compilers[@]}"; do
    for standard in c++17 c++11; do check_refused "$compiler" "$standard" rowlock.hpp; done
    check_program "$compiler"
done
for header in "${headers[@]}"; do
    check_refused "$CXX" c++17 "$header"
    is_for_a_driver_that_is_absent "$header" || check_taken "$CXX" "$header"
done
