#!/bin/bash
# report --trace: what Chrome's tracing and Perfetto's UI demand of a file, and the capture's own counts in it.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
check_trace=$TP_SRC/tests/report/check_trace.py

trace_of() { # capture, trace
    "$TURNPIKE" report "$1.cap" --trace "$2.trace" -o "$2.html" >said 2>err
}
trace_holds() { # file, options
    python3 "$check_trace" "$@" >counted || {
        sed 's/^/# /' counted
        return 1
    }
}

# name, simulate's options…: the trace holds, and has as many frames, tears and late ones as the run.
holds() {
    local name=$1
    shift
    "$TURNPIKE" simulate "$@" --frames 2000 --capture run.cap --json run.json >/dev/null
    check "$name: written" trace_of run run
    check "$name: holds" trace_holds run.trace
    local events slices flows tears late complete
    read -r _ events _ slices _ flows _ tears _ late _ complete <counted
    check "$name: each frame has its arrow" test "$flows" -ge 2000
    check "$name: each tear is there" test "$tears" -eq "$(jq .tears run.json)"
    check "$name: each late frame is there" test "$late" -eq "$(jq .gate_late run.json)"
    check "$name: all of it" test "$complete" = True
}
holds 'a quiet run' --cost 8000
holds 'a late guest that runs ahead' --guest late:3 --cost 3000+9000
holds 'tears' --release-fence off --images 2 --gate off --cost 8000
check 'there were some' json_holds '.tears > 100' run.json
holds 'late frames' --cost 9000,9000,9000,30000 --cap 60
check 'there were some of them' json_holds '.gate_late > 0' run.json
holds 'faults' --faults all:5 --images 4
holds 'a variable rate' --refresh 48-120 --cost 12000
holds 'composed' --compose 3000 --cost 12000

# --- a capture that is cut, spoilt, hostile ---
size=$(stat -c %s run.cap)
for cut in 16 100 $((size / 3)) $((size - 1)); do
    head -c "$cut" run.cap >cut.cap
    trace_of cut cut
    check "cut at $cut: a trace up to there" trace_holds cut.trace --empty
    check "cut at $cut: says that it is not all" grep -q 'complete False' counted
done
check 'no capture: status 2' test "$("$TURNPIKE" report "$check_trace" --trace x.trace -o x.html 2>err; echo $?)" = 2
check 'and no file' test ! -e x.trace -a ! -e x.html
check 'a pipe is told what to do' test "$(cat run.cap | "$TURNPIKE" report /dev/stdin --trace x.trace -o x.html 2>err
    echo $?)" = 2
check 'in words' grep -q 'put it into a file first' err
check 'a full disk: status 1' test "$("$TURNPIKE" report run.cap --trace /dev/full -o x.html 2>err >/dev/null; echo $?)" = 1
check 'the same file twice: status 2' test "$("$TURNPIKE" report run.cap --trace x.html -o x.html 2>err; echo $?)" = 2
tap_close
