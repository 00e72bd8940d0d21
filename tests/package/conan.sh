#!/usr/bin/env bash
# The recipe for Conan: its methods run, its options exist, and in the full tier what it packages can be built with. Conan itself is
# not here: conan_stand_in.py stands for it.
source "${BASH_SOURCE[0]%/*}/common.sh"

if ! command -v python3 >/dev/null; then
    echo "Skipped: there is no python3 here."
    exit 77
fi
[[ ! -d $root/packaging/conan/__pycache__ ]] || fail "There is a __pycache__ in packaging/conan"

# try_recipe <option>=True|False...
try_recipe() {
    rm -rf "$scratch/conan"
    quietly python3 -B "$here/conan_stand_in.py" "$root" "$scratch/conan" "$version" "$@"
}

for backend in sqlite postgresql mysql; do
    [[ " $components " != *" $backend "* ]] ||
        try_recipe build=False with_sqlite=False "with_$backend=True"
done
try_recipe with_sqlite=False
if [[ ${ROWLOCK_TEST_TIER-} == all ]]; then
    try_recipe shared=False
    try_recipe shared=True
fi
