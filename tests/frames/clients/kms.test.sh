#!/bin/bash
# The checks of the core's tests once more, on a card of `turnpike play`: preload library, sockets, loop, publisher
# and screen are between, as for a compositor.
# timeout: 240
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
programs=$(dirname "$TURNPIKE")/tests/frames/kms
# A program with a sanitizer insists on being loaded before the preload library.
export ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

for program in "$programs"/kms_*_test; do
    name=${program##*/kms_}
    name=${name%_test}
    # These two look inside the core.
    [[ $name != core && $name != snapshot ]] || continue
    status=0
    played 60 play --refresh 60,120 --overlays 1 --vrr 48-120 -- \
        env TURNPIKE_TEST_CARD=/dev/dri/card0 "$program" >out 2>&1 </dev/null || status=$?
    ((status == 0)) || grep -E 'FAILED|ERROR|error' out >&2
    check "$name on a card: $(grep -c '^\[ *OK' out) hold, $(grep -c '^\[ *SKIPPED \]' out) are not for a card" \
        test $status -eq 0
done
tap_close
