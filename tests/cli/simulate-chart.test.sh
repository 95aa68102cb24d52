#!/bin/bash
# simulate --chart: the picture that docs/pacing.md shows, whole or not at all.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
same() { # name, options…
    local name=$1
    shift
    "$TURNPIKE" simulate "$@" --chart "$name.svg" >said 2>err
    check "$name: exit status 0" test $? -eq 0
    check "$name: as in docs/images" cmp "$name.svg" "$TP_SRC/docs/images/pacing-$name.svg"
}
same vsync --cost 8000
same cap --cost 8000 --gate cap --cap 45
same latency --cost 8000 --gate latency
same off --cost 8000 --gate off --images 5
same vrr --cost 8000 --refresh 48-120 --gate cap --cap 57
same release-first --cost 15000 --images 3
same unfenced --cost 8000 --gate off --images 2 --release-fence off

"$TURNPIKE" simulate --cost 8000 --frames 300 --json - --chart one.svg >plain.json 2>err
check 'with --json -, standard output has the JSON alone' json_holds '.frames == 300' plain.json
"$TURNPIKE" simulate --cost 8000 --chart-from 200 --chart later.svg >said 2>err
check '--chart-from: another part of the run' grep -q '>frame 200: 34.98 ms' later.svg

mkdir there
"$TURNPIKE" simulate --cost 8000 --frames 300 --chart there >said 2>err
check 'a folder is no place for it: status 2' test $? -eq 2
check 'and is named' grep -q there err
"$TURNPIKE" simulate --cost 8000 --frames 300 --chart none/x.svg >said 2>err
check 'nor is a folder that is not there' test $? -ne 0
check 'and nothing is left' test ! -e none

tap_close
