#!/usr/bin/env bash
# The recipe for Conan, for an archive of these sources: its files are where conan-center-index wants them, its methods run,
# its options exist, and in the full tier what it packages can be built with. Conan itself is not here:
# conan_stand_in.py stands for it.
source "${BASH_SOURCE[0]%/*}/common.sh"

if ! command -v python3 >/dev/null; then
    echo "Skipped: there is no python3 here."
    exit 77
fi

# try_recipe <option>=True|False...
try_recipe() {
    rm -rf "$scratch/conan"
    quietly python3 -B "$here/conan_stand_in.py" "$scratch/release/recipes/rowlock" "$scratch/conan" "$version" "$@"
}

make_release
found=$(cd "$scratch/release/recipes/rowlock" && find . -type f -printf '%P\n' | LC_ALL=C sort | paste -sd ' ')
expected="all/conandata.yml all/conanfile.py all/test_package/CMakeLists.txt all/test_package/conanfile.py"
expected+=" all/test_package/test_package.cpp config.yml"
[[ $found == "$expected" ]] || fail "The recipe's files are $found"

for backend in sqlite postgresql mysql; do
    [[ " $components " != *" $backend "* ]] || { [[ $backend == mysql ]] && ! pkg-config --exists libmariadb; } ||
        try_recipe build=False with_sqlite=False "with_$backend=True"
done
try_recipe with_sqlite=False
if [[ ${ROWLOCK_TEST_TIER-} == all ]]; then
    try_recipe shared=False
    try_recipe shared=True
fi
