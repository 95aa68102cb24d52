#!/bin/bash
# What `turnpike build` may and may not remove, and what an interrupted run says.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
cd "$TP_TMP" || exit 2
build() {
    "$TURNPIKE" build --target host "$@" >said 2>err </dev/null
}

mkdir -p mini/src && echo 25.0.7 >mini/VERSION
mkdir -p out/work/host/build && echo precious >out/work/host/build/thesis
build --mesa mini --out out
check 'a work folder of something else is refused: exit status 2' test $? -eq 2
check 'and left alone' test "$(cat out/work/host/build/thesis)" = precious
rm -rf out

build --mesa mini --out out
check 'a tree that the patches do not fit: exit status 1' test $? -eq 1
echo '{"of": "an earlier build"}' >out/summary.json
touch out/work/host/mesa/MYWORK
build --mesa out/work/host/mesa --out out
check 'building from the work folder itself is refused: exit status 2' test $? -eq 2
check 'the reason is said' grep -q 'lies in the work folder' err
check 'and the tree is left alone' test -e out/work/host/mesa/MYWORK
ln -s out/work/host/mesa link
build --mesa link --out out
check 'so is a link to it' test -e out/work/host/mesa/MYWORK
build --mesa nowhere --out out
check 'a failed build leaves the earlier summary' grep -q earlier out/summary.json

mesa_parts "$(mesa_pristine)" mesa
"$TURNPIKE" patch mesa --target host --json /nowhere/report.json >/dev/null 2>err
check 'a report that cannot be written: exit status 2' test $? -eq 2
check 'and the tree is not patched' test ! -e mesa/.turnpike
"$TURNPIKE" patch mesa --target host >/dev/full 2>err
check 'nor is it when standard output is full' test ! -e mesa/.turnpike

"$TURNPIKE" build --target host --mesa "$(mesa_pristine)" --out slow >/dev/null 2>&1 &
pid=$!
sleep 2
kill -TERM $pid
wait $pid
check 'an interrupted build ends as an interrupted program does' test $? -eq 143
check 'and has written no archive' test -z "$(find slow -name '*.zip')"
tap_close
