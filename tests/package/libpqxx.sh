#!/usr/bin/env bash
# Versions of libpqxx that cannot work are refused by CMake, and it is said why.
source "${BASH_SOURCE[0]%/*}/common.sh"

quietly "$cmake" -S "$here/libpqxx" -B "$scratch/versions"
if "$cmake" -S "$here/libpqxx" -B "$scratch/required" -DREQUIRED=7.4.2 >"$scratch/log" 2>&1; then
    fail "libpqxx 7.4.2 was taken"
fi
grep -q "rowlock works with libpqxx 6.4, 7.7.1 or later, and this is libpqxx 7.4.2" <(tr -s ' \n' ' ' <"$scratch/log") ||
    fail "It was not said why: $(<"$scratch/log")"
