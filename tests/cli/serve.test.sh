#!/bin/bash
# serve's files, streams and ranges: what cannot be is said at once, and nothing hangs.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2

# status, words that must be on standard error, seconds that it may take, arguments of serve…
ends() {
    local want=$1 words=$2 seconds=$3 status=0
    shift 3
    timeout -k 5 "$seconds" "$TURNPIKE" serve --socket "@serve-test-$$" "$@" >out 2>err </dev/null ||
        status=$?
    [[ $status == "$want" ]] && { [[ -z $words ]] || grep -qF -e "$words" err; }
}

check 'two ranges that differ' ends 2 'different ranges' 10 --vrr 10-20 --refresh 48-120
check 'in the other order, too' ends 2 'different ranges' 10 --refresh 48-120 --vrr 10-20
check 'one range said twice is one' ends 124 '' 1 --refresh 48-120 --vrr 48-120
check 'a later --refresh takes an earlier one back, its range, too' ends 2 'no refresh rate lies' 10 \
    --refresh 48-120 --refresh 60 --vrr 70-80

mkfifo pipe
check 'a video into a pipe that nobody reads' ends 1 'nobody reads this pipe' 20 --capture-video pipe
check 'a signal ends that wait' ends 124 '' 1 --capture-video pipe
check 'a picture into one' bash -c '
    "$1" serve --socket @serve-test-$$ --snapshot pipe >out 2>err & pid=$!
    until [[ -s out ]]; do sleep 0.05; done
    kill -USR1 $pid
    for ((i = 0; i < 100; i++)); do grep -q "nobody reads this pipe" err && break; sleep 0.1; done
    kill $pid
    wait $pid
    ((i < 100))' - "$TURNPIKE"

echo earlier >video.y4m
check 'a video whose display fails' ends 2 'no socket can have this name' 10 --capture-video video.y4m \
    --socket "/tmp/$(printf '%0120d' 0)"
check 'leaves the file that was there' grep -qx earlier video.y4m
check 'and makes none' ends 2 'no socket can have this name' 10 --capture-video new.y4m \
    --socket "/tmp/$(printf '%0120d' 0)"
check 'indeed' test ! -e new.y4m

closed() { # the status is the program's
    "$TURNPIKE" serve --socket "@serve-test-$$" --snapshot picture.png >&- 2>err </dev/null
}
status=0
closed || status=$?
check 'a closed standard output: exit status 1' test $status = 1
check 'and it is told' grep -q 'standard output: cannot be written: it is closed' err
if [[ -e /dev/full ]]; then
    status=0
    "$TURNPIKE" serve --socket "@serve-test-$$" >/dev/full 2>err </dev/null || status=$?
    check 'a full one: exit status 1' test $status = 1
    check 'and it is told, too' grep -q 'No space left' err
fi
tap_close
