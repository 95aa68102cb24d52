#!/bin/bash
# The real driver, compiled by two distcc daemons on loopback: the bytes of a build made here.
# timeout: 7200
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/scripts/mesa.sh
. ../../scripts/mesa.sh
# shellcheck source=tests/factory/recipe/variants.sh
. ./variants.sh
# shellcheck source=tests/factory/recipe/distcc.sh
. ./distcc.sh
for program in distcc distccd; do
    command -v "$program" >/dev/null || { echo "there is no $program here" && exit 1; }
done
trap distcc_stop EXIT
pristine=$(mesa_pristine)
check "there is Mesa's source" test -n "$pristine"
check 'the driver is built here' \
    recipe_tool linux-arm64 "$pristine" "$TP_TMP/here" "$TP_TMP/here.so"
distcc_start "$TP_TMP"
tap $? 'two daemons listen on loopback'
check 'the driver is built through distcc' \
    recipe_tool -l distcc -j 4 linux-arm64 "$pristine" "$TP_TMP/far" "$TP_TMP/far.so"
check 'the first daemon compiled a good part' test "$(distcc_jobs 1)" -gt 100
check 'the second daemon compiled a good part' test "$(distcc_jobs 2)" -gt 100
check 'the bytes are the same' cmp "$TP_TMP/here.so" "$TP_TMP/far.so"
tap_close
