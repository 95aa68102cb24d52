#!/bin/bash
# The same checks as over the wire alone, on a card as a compositor has it: the preload library, a
# server of its own, refreshes in real time. What only our own device lets be driven is skipped.
# timeout: 400
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
cd "$TP_TMP" || exit 2

build=$(build_folder)
export XDG_RUNTIME_DIR=$TP_TMP/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
coproc SERVER { exec "$TURNPIKE" serve --vrr 48-60 --overlays 1 --refresh 60,120; }
server=$SERVER_PID
exec {said}<&"${SERVER[0]}"
read -r -t 20 -u "$said" line || line=
check 'there is a card' test -n "$line"

for class in getversion auth setmaster addfb getfb prop_blob properties atomic setmode flip vblank \
    sequence fence cursor colour buffer syncobj; do
    status=0
    TURNPIKE_SOCKET=${line##*=} TURNPIKE_TEST_CARD=/dev/dri/card0 \
        LD_PRELOAD=$build/src/frames/shim/libturnpike-drm.so \
        timeout -k 5 120 "$build/tests/frames/kms/kms_${class}_test" >out 2>&1 || status=$?
    ((status == 0)) || grep -vE '^\[ RUN|^\[ +OK' out >&2
    tap "$status" "$class"
done

kill -TERM "$server"
status=0
wait "$server" || status=$?
check 'the server ends by the signal' test "$status" = 143
tap_close
