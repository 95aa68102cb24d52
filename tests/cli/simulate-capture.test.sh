#!/bin/bash
# simulate --capture: a file that is there in full or up to where it was cut, and disturbs nothing.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2

run() { # options…
    "$TURNPIKE" simulate --cost 9000,20000 --frames 2000 "$@" >said 2>err
}
run --json - --capture one.cap
check 'exit status 0' test $? -eq 0
cp said one.json
check 'with --json -, standard output has the JSON alone' json_holds '.frames > 1900' one.json
run --json -
check 'a run that is recorded is the run that is not' cmp said one.json
run --capture two.cap --chart two.svg
check 'the same seed gives the same bytes, with a chart beside it too' cmp one.cap two.cap
check 'and the chart is drawn' test -s two.svg
check 'a frame takes less than 100 bytes' test "$(stat -c %s one.cap)" -lt 200000
check 'it says what made it' grep -aq 'made-by.turnpike [0-9.]* simulate' one.cap
run --capture two.cap --seed 2 --faults all
check 'another one replaces it' test "$(cmp -s one.cap two.cap; echo $?)" -eq 1

run --capture none/x.cap
check 'a folder that is not there: status 2' test $? -eq 2
check 'and is named' grep -q none/x.cap err
mkdir there
run --capture there
check 'a folder is no place for it: status 2' test $? -eq 2
if [[ -e /dev/full ]]; then
    run --capture /dev/full
    check 'a full disk: status 1' test $? -eq 1
    check 'and the reason' grep -q 'No space left' err
fi
"$TURNPIKE" simulate --cost 9000 --frames 100000000 --capture long.cap >said 2>err &
job=$!
for _ in $(seq 100); do
    [[ $(stat -c %s long.cap 2>/dev/null || echo 0) -lt 100000 ]] || break
    sleep 0.1
done
kill -KILL "$job"
wait "$job" 2>/dev/null
check 'a run that is killed leaves what it wrote, in whole blocks' \
    test "$(stat -c %s long.cap)" -ge 100000
check 'that begin as a capture does' test "$(head -c 5 long.cap)" = TPCAP

tap_close
