#!/bin/bash
# real_clients.sh PRELOAD: libdrm's test programs, drm_info and kmscube, unmodified, on the server that
# with_server.sh has started.
set -euo pipefail
preload=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in modetest proptest vbltest drm_info kmscube jq; do
    command -v "$program" >/dev/null || { printf '%s is not installed\n' "$program" >&2; exit 1; }
done

# Runs a program until it ends by itself, or its input does, after SECONDS; one that does not mind its
# input is ended a little later.
on_card() { # seconds, command...
    local seconds=$1 status=0
    shift
    LD_PRELOAD=$preload timeout -k 2 $((seconds ? seconds + 1 : 30)) stdbuf -oL "$@" >"$work/out" 2>&1 \
        < <(exec sleep "$seconds" 2>/dev/null) || status=$?
    [[ $status -eq 0 || $status -eq 141 || ($status -eq 124 && $seconds -gt 0) ]] ||
        fail "$1 ended with $status"
}

fail() {
    printf '%s\n' "$1" >&2
    tail -n 40 "$work/out" >&2
    exit 1
}

says() { # pattern
    grep -Eq "$1" "$work/out" || fail "nothing matches $1"
}

# A rate that the clock cannot blur: the median of what was printed.
rate() { # low, high
    local middle
    middle=$(sed -nE 's/.*freq: ([0-9.]+)Hz.*/\1/p' "$work/out" | sort -n |
        awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 0 }')
    awk -v r="$middle" -v low="$1" -v high="$2" 'BEGIN { exit !(r >= low && r <= high) }' ||
        fail "a rate of $middle"
}

on_card 0 modetest -M turnpike -c
says '^[0-9]+	[0-9]+	connected	eDP-1'
says '#0 1920x1080 60\.00 '
connector=$(awk '$3 == "connected" { print $1; exit }' "$work/out")
on_card 0 modetest -M turnpike -p
crtc=$(awk '/^CRTCs/ { getline; getline; print $1; exit }' "$work/out")
plane=$(awk '/^Planes/ { on = 1 } on && /^[0-9]+\t/ { id = $1 }
    on && /value: 1$/ && type { print id; exit } { type = /Overlay=0 Primary=1/ || (type && !/value/) }' \
    "$work/out")
says 'IN_FORMATS'

on_card 4 modetest -M turnpike -s "$connector@$crtc:1920x1080" -v
rate 50 70
on_card 4 modetest -M turnpike -a -s "$connector@$crtc:1920x1080" -P "$plane@$crtc:1920x1080" -v
rate 50 70
on_card 4 vbltest -M turnpike
rate 50 70

on_card 0 proptest -M turnpike
says '^Connector [0-9]+ \(eDP-1\)'

on_card 0 drm_info
says 'Driver: turnpike'
LD_PRELOAD=$preload drm_info -j >"$work/out"
[[ $(jq -r '.[].driver.name' "$work/out") == turnpike ]] || fail 'another driver'
[[ $(jq '.[].connectors | length' "$work/out") -eq 2 ]] || fail 'connectors'
[[ $(jq '.[].device.bus_type' "$work/out") -eq 2 ]] || fail 'the bus'

on_card 20 kmscube -D /dev/dri/card0 -c 60
says 'Rendered [0-9]+ frames'
