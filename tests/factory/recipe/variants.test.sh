#!/bin/bash
# Both variants from one build directory, on the real Mesa: its Android platform on glibc.
# timeout: 3600
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/scripts/mesa.sh
. ../../scripts/mesa.sh
# shellcheck source=tests/factory/recipe/variants.sh
. ./variants.sh
check_variants host-android
tap_close
