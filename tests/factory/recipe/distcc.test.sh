#!/bin/bash
# A build spread over two distcc daemons gives the bytes of one made here, and so does ccache: on a
# small tree, with the recipe's own machinery.
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/factory/recipe/distcc.sh
. ./distcc.sh
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
tool=$build/tests/factory/recipe/recipe_tool
for program in distcc distccd ccache; do
    command -v "$program" >/dev/null || { echo "1..0 # SKIP there is no $program here" && exit 77; }
done
tmp=${TP_TMP:-$(mktemp -d)}
trap 'distcc_stop; [[ -n ${TP_TMP-} ]] || rm -rf "$tmp"' EXIT

n=0 failed=0
ok() { # what it shows, command...
    local name=$1 log
    shift
    n=$((n + 1))
    if log=$("$@" 2>&1); then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        [[ -z $log ]] || printf '%s\n' "$log" | sed 's/^/# /'
        failed=1
    fi
}

ok 'the small tree is built here' "$tool" host tiny "$tmp/here" "$tmp/here.so"
distcc_start "$tmp"
ok 'two daemons listen on loopback' test $? -eq 0
ok 'it is built through distcc' "$tool" -l distcc -j 4 host tiny "$tmp/far" "$tmp/far.so"
ok 'the first daemon compiled' test "$(distcc_jobs 1)" -gt 0
ok 'the second daemon compiled' test "$(distcc_jobs 2)" -gt 0
ok 'the bytes are the same' cmp "$tmp/here.so" "$tmp/far.so"
distcc_stop
ok 'without the daemons distcc does not build' bash -c '! "$@"' - \
    "$tool" -l distcc host tiny "$tmp/none" "$tmp/none.so"

export CCACHE_DIR=$tmp/ccache
ok 'it is built through ccache' "$tool" -l ccache host tiny "$tmp/cc1" "$tmp/cc1.so"
ok 'and a second time from its store' "$tool" -l ccache host tiny "$tmp/cc2" "$tmp/cc2.so"
ok 'the bytes are the same' cmp "$tmp/here.so" "$tmp/cc1.so"
ok 'and again' cmp "$tmp/here.so" "$tmp/cc2.so"
echo "1..$n"
exit "$failed"
