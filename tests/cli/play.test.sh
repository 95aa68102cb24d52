#!/bin/bash
# play's files and places, and what --assert asserts.
# timeout: 180
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
flips=$(dirname "$TURNPIKE")/tests/frames/clients/flips

# status, words that must be on standard error, arguments of play…
ends() {
    local want=$1 words=$2 status=0
    shift 2
    timeout -k 5 40 "$TURNPIKE" play --size 320x240 "$@" >out 2>err </dev/null || status=$?
    if [[ $status == "$want" ]] && { [[ -z $words ]] || grep -qF -e "$words" err; }; then
        return 0
    fi
    echo "# exit status $status"
    sed 's/^/# /' err
    return 1
}

check 'nothing that was shown is no assertion' ends 1 'nothing was shown' --assert -- sleep 0.3
check 'without --assert it is fine' ends 0 '' -- true
check 'a screen that is seen too late to know of tears' ends 1 'too little is known of tears' \
    --size 4096x2160 --refresh 1000 --latch 100 --watch full --assert -- "$flips" 1000 100

check "a driver's name is looked for where the linker looks" ends 0 '' --driver libvulkan_lvp.so -- \
    bash -c '[[ $TURNPIKE_DRIVER == /*/libvulkan_lvp.so ]]'
check 'and told where there is none' ends 2 "--driver 'libvulkan_none.so': No such file" --driver libvulkan_none.so -- true
check 'a path is a path' ends 2 "--driver './libvulkan_lvp.so': No such file" --driver ./libvulkan_lvp.so -- true
touch libvulkan_lvp.so
check 'and a file here comes first' ends 0 '' --driver libvulkan_lvp.so -- \
    bash -c '[[ $TURNPIKE_DRIVER == "$PWD/libvulkan_lvp.so" ]]'

mkfifo pipe
check 'a report into a pipe that nobody reads' ends 1 'nobody reads this pipe' --json pipe -- true
check 'a video, too' ends 1 'nobody reads this pipe' --capture-video pipe -- true
check 'and a picture' ends 1 'nobody reads this pipe' --snapshot pipe -- "$flips" 60 10
cat pipe >read.y4m &
reader=$!
check 'one that is read is filled' ends 0 '' --capture-video pipe -- "$flips" 60 10
wait $reader
check 'with a video' grep -qa '^YUV4MPEG2 W320 H240' read.y4m

echo earlier >video.y4m
check 'a program that is not there' ends 3 'cannot be started' --capture-video video.y4m -- ./none
check 'leaves the video that was there' grep -qx earlier video.y4m
check 'the next one replaces it' ends 0 '' --capture-video video.y4m -- "$flips" 60 10
check 'whole' bash -c 'head -c 9 video.y4m | grep -q YUV4MPEG2'

long=$PWD/$(printf '%0100d' 0)
mkdir -m 700 "$long"
XDG_RUNTIME_DIR=$long TMPDIR=$long check 'a runtime folder whose path is too long for a socket' \
    ends 0 '' -- "$flips" 60 5

if [[ -e /dev/full ]]; then
    check 'a picture on a full disk' ends 1 'No space left' --snapshot /dev/full -- "$flips" 60 10
    status=0
    "$TURNPIKE" play --json - -- true >/dev/full 2>err </dev/null || status=$?
    check 'a full standard output: exit status 1' test $status = 1
fi
status=0
"$TURNPIKE" play --json - -- true >&- 2>err </dev/null || status=$?
check 'a closed one, too' test $status = 1
check 'which is told' grep -q 'it is closed' err
status=0
mkdir gone
"$TURNPIKE" play --json - -- true 2>err </dev/null | true
check 'and one whose reader has gone' test "${PIPESTATUS[0]}" = 1

# A disk that is full: a file system of our own, filled.
full() {
    unshare -Urm bash -c 'mount -t tmpfs -o size=64k tmpfs gone && mkdir gone/run &&
        dd if=/dev/zero of=gone/fill bs=4k status=none 2>/dev/null
        XDG_RUNTIME_DIR=$PWD/gone/run exec "$1" play -- true' - "$TURNPIKE" >out 2>err </dev/null
}
if unshare -Urm true 2>/dev/null; then
    status=0
    full || status=$?
    check 'a full runtime folder: exit status 1' test $status = 1
    check 'by its name' grep -q 'cannot be made: No space left on device' err
fi
tap_close
