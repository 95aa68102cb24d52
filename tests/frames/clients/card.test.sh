#!/bin/bash
# Unmodified programs on a card of ours, each by itself: libdrm's test programs, drm_info, kmscube.
# timeout: 200
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
need modetest proptest vbltest drm_info kmscube convert
size=1280x720

# Runs a program on a card for so long, its standard input open: some end when they can read from it.
on_card() { # seconds, serve's options..., --, command...
    local seconds=$1 status=0
    shift
    played "$seconds" play --size $size --overlays 1 --seconds "$seconds" "$@" >out 2>err \
        < <(exec sleep 100 2>/dev/null) || status=$?
    ((status == 0)) || tail -n 20 out err >&2
    return "$status"
}

# With the card in a mount namespace, and by the preload library alone.
check 'modetest, without a namespace' on_card 20 --namespace no -- modetest -M turnpike -c
if unshare -Urm true 2>/dev/null; then
    check 'modetest, in a namespace' on_card 20 --namespace yes -- modetest -M turnpike -c
    check 'there /sys has the card for everybody' on_card 20 --namespace yes -- \
        env -u LD_PRELOAD grep -qx 226:0 /sys/class/drm/card0/dev
    check 'and what it had before' on_card 20 --namespace yes -- \
        env -u LD_PRELOAD test -e /sys/class/net/lo/mtu -a -e /sys/devices/system/cpu
fi

# The modes that modetest prints, and whom to show them on.
check 'modetest lists' on_card 20 --refresh 60,120 -- modetest -M turnpike
check 'one connector, connected' test "$(grep -cE '^[0-9]+	[0-9]+	connected	eDP-1' out)" = 1
check 'the first rate is the preferred one' grep -qE '^ +#0 1280x720 60\.00 .*preferred' out
check 'and the other' grep -qE '^ +#1 1280x720 120\.00 ' out
connector=$(awk '$3 == "connected" { print $1; exit }' out)
crtc=$(awk '/^CRTCs/ { getline; getline; print $1; exit }' out)
plane=$(awk '/^Planes/ { on = 1 } on && /^[0-9]+\t/ { print $1; exit }' out)

for hz in 60 120; do
    check "flips at $hz Hz, by the events' times" \
        on_card 30 --refresh 60,120 -- "$(dirname "$TURNPIKE")/tests/frames/clients/flips" $hz 100
    sed 's/^/# /' out
done

picture_has_bars() {
    # SMPTE's: grey, yellow, cyan, green, magenta, red, blue, each a seventh of the width
    local i=0 x want
    for want in C0C0C0 C0C000 00C0C0 00C000 C000C0 C00000 0000C0; do
        x=$(((2 * i + 1) * 1280 / 14))
        [[ $(pixel shown.png $x 100) == "$want" ]] || return 1
        i=$((i + 1))
    done
}
check 'modetest, legacy' on_card 3 --snapshot shown.png -- modetest -M turnpike \
    -s "$connector@$crtc:$size"
check 'its picture is on the screen' picture_has_bars
check 'modetest, legacy, flips' on_card 3 -- stdbuf -oL modetest -M turnpike -s "$connector@$crtc:$size" -v
check 'and counts them' grep -qE 'freq: [0-9.]+Hz' err
check 'modetest, atomic' on_card 3 --snapshot shown.png -- modetest -M turnpike -a \
    -s "$connector@$crtc:$size" -P "$plane@$crtc:$size"
check 'its picture is on the screen' picture_has_bars
check 'modetest, atomic, flips' on_card 3 -- stdbuf -oL modetest -M turnpike -a \
    -s "$connector@$crtc:$size" -P "$plane@$crtc:$size" -v
check 'and counts them' grep -qE 'freq: [0-9.]+Hz' err
# It counts the vblanks of a screen that somebody else has switched on.
check 'vbltest' on_card 4 -- bash -c \
    'modetest -M turnpike -s "$1" & sleep 1; exec stdbuf -oL vbltest -M turnpike' - "$connector@$crtc:$size"
check 'counts vblanks' grep -qE '^freq: [0-9.]+Hz' out err
check 'proptest' on_card 20 -- proptest -M turnpike
check 'sees the connector' grep -qE '^Connector [0-9]+ \(eDP-1\)' out
check 'drm_info' on_card 20 -- drm_info -j
check 'knows the driver' json_holds '.[].driver.name == "turnpike"' out
check 'kmscube on llvmpipe' on_card 60 --json report.json --snapshot shown.png -- \
    stdbuf -oL kmscube -D /dev/dri/card0 -c 60
check 'renders' grep -qE 'Rendered [0-9]+ frames' out
check 'and the screen showed them' json_holds '.frames >= 30' report.json
check 'variable refresh is offered where there is a range' on_card 20 --vrr 48-120 -- modetest -M turnpike -c
check 'and said so' grep -A3 'vrr_capable' out
tap_close
