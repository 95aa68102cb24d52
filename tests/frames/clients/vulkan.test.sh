#!/bin/bash
# vkcube-wayland by our Vulkan driver in compositors that compose on the processor. What they show are pictures of
# their own: its buffers are not the screen's, and there are no notes of them.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
need weston sway cage vkcube-wayland convert jq

for compositor in weston sway cage; do
    status=0
    played 6 play --compositor $compositor --size 1280x720 --seconds 6 --verbose --json report.json \
        --snapshot shown.png --images 4 -- vkcube-wayland >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 30 err | sed 's/^/# /'
    check "$compositor: vkcube-wayland runs for its time" test $status -eq 0
    printf '# %s\n' "$(jq -c '{frames, fps, tears, notes}' report.json)"
    check "$compositor: its frames are on the screen" json_holds '.frames >= 60' report.json
    check "$compositor: the picture is a cube" cube_is_there shown.png
    check "$compositor: its driver is ours" grep -q '^turnpike: images are' err
done
refused() { # arguments...
    local status=0
    "$TURNPIKE" play "$@" -- true >out 2>err </dev/null || status=$?
    [[ $status -eq 2 ]] && grep -q "^turnpike play: " err
}
check '--driver that is not there' refused --driver ./nothing
check '--gate of no such kind' refused --gate often
check '--cap without end' refused --cap 1x
check '--images 0' refused --images 0
check '--release-fence perhaps' refused --release-fence perhaps
said='TURNPIKE_GATE=cap TURNPIKE_CAP=50 TURNPIKE_MIN_IMAGES=5 TURNPIKE_RELEASE_FENCE=0'
check 'what is asked for reaches the driver' played 5 play --gate cap --cap 50 --images 5 --release-fence off -- \
    sh -c '[ "$1" = "TURNPIKE_GATE=$TURNPIKE_GATE TURNPIKE_CAP=$TURNPIKE_CAP TURNPIKE_MIN_IMAGES=$TURNPIKE_MIN_IMAGES TURNPIKE_RELEASE_FENCE=$TURNPIKE_RELEASE_FENCE" ] && [ -S "$TURNPIKE_SOCKET" ]' - "$said"
tap_close
