#!/bin/bash
# A build spread over two distcc daemons gives the bytes of one made here, and so does ccache: on a
# small tree, with the recipe's own machinery.
set -u
. "$(dirname "$0")/../../scripts/mesa.sh"
cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/factory/recipe/distcc.sh
. ./distcc.sh
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
tool=$build/tests/factory/recipe/recipe_tool
for program in distcc distccd ccache; do
    command -v "$program" >/dev/null || { echo "there is no $program here" && exit 1; }
done
tmp=${TP_TMP:-$(mktemp -d)}
trap 'distcc_stop; [[ -n ${TP_TMP-} ]] || rm -rf "$tmp"' EXIT

check 'the small tree is built here' "$tool" host tiny "$tmp/here" "$tmp/here.so"
distcc_start "$tmp"
check 'two daemons listen on loopback' test $? -eq 0
check 'it is built through distcc' "$tool" -l distcc -j 4 host tiny "$tmp/far" "$tmp/far.so"
check 'the first daemon compiled' test "$(distcc_jobs 1)" -gt 0
check 'the second daemon compiled' test "$(distcc_jobs 2)" -gt 0
check 'the bytes are the same' cmp "$tmp/here.so" "$tmp/far.so"
distcc_stop
check 'without the daemons distcc does not build' bash -c '! "$@"' - \
    "$tool" -l distcc host tiny "$tmp/none" "$tmp/none.so"

export CCACHE_DIR=$tmp/ccache
check 'it is built through ccache' "$tool" -l ccache host tiny "$tmp/cc1" "$tmp/cc1.so"
check 'and a second time from its store' "$tool" -l ccache host tiny "$tmp/cc2" "$tmp/cc2.so"
check 'the bytes are the same' cmp "$tmp/here.so" "$tmp/cc1.so"
check 'and again' cmp "$tmp/here.so" "$tmp/cc2.so"
tap_close
