#!/bin/bash
# Both variants from one build directory, on the real Mesa: the other targets that can be built here.
# timeout: 7200
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/scripts/mesa.sh
. ../../scripts/mesa.sh
# shellcheck source=tests/factory/recipe/variants.sh
. ./variants.sh
for target in host linux-arm64; do
    check_variants "$target"
done
tap_close
