#!/bin/bash
# What the simulated screen sees of its clients: tears, and what it records.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
need jq
clients=$(dirname "$TURNPIKE")/tests/frames/clients

run() { # play's arguments...
    local status=0
    played 30 play --size 640x480 --json report.json "$@" >out 2>err </dev/null || status=$?
    ((status == 0)) || sed 's/^/# /' err
    return "$status"
}
fails_with() { # status, command...
    local want=$1 status=0
    shift
    "$@" || status=$?
    ((status == want))
}

check 'a client that flips its buffers' run --assert -- "$clients/flips" 60 120
check 'is told of as whole' json_holds '.tears == 0 and .async_tears == 0 and .frames > 100 and
    .watched > 0.5 and .first_tears == [] and .notes.pending >= 0' report.json
check 'one that draws into what is shown fails an assertion' \
    fails_with 1 run --assert -- "$clients/tear" 1 123
check 'which says where' grep -q 'scan-outs tore, the first at line 123 of refresh' err
check 'and the report counts it' json_holds '.tears > 5 and
    all(.first_tears[]; .line == 123 and .lines == 1 and .seconds < 10)' report.json
check 'read in full, too' fails_with 1 run --watch full --assert -- "$clients/tear" 1 123
check 'without an assertion it is told, and no more' run -- "$clients/tear" 1
check 'not watched, nothing is said' run --watch off -- "$clients/tear" 1
check 'which is null' json_holds '.tears == null and .watched == null' report.json
check 'an assertion without a watch is wrong usage' \
    fails_with 2 run --watch off --assert -- true

check 'records' run --refresh 48-120 --capture-video v.y4m -- "$clients/flips" 120 60
frame=$((6 + 640 * 480 * 3 / 2))
check 'a frame each refresh, whole' json_holds \
    ".video.frames > 30 and .video.frames + .video.dropped >= .refreshes - 5" report.json
check 'at the highest rate' test "$(head -n 1 v.y4m)" = \
    'YUV4MPEG2 W640 H480 F120000:1000 Ip A1:1 C420jpeg XCOLORRANGE=FULL'
bytes=$(($(stat -c %s v.y4m) - $(head -n 1 v.y4m | wc -c)))
check 'of their size' test $((bytes % frame)) = 0
check 'a place that cannot be written is said at once' \
    fails_with 2 run --capture-video /nowhere/v.y4m -- true
tap_close
