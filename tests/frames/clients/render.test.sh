#!/bin/bash
# The card's render node: there where it is asked for, for a client of our own and for programs that nobody here
# wrote, and nowhere else.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
need modetest drm_info jq
render=$(dirname "$TURNPIKE")/tests/frames/clients/render

on_card() { # arguments...
    local status=0
    played 20 play --size 640x480 --seconds 20 "$@" >out 2>err </dev/null || status=$?
    ((status == 0)) || sed 's/^/# /' out err
    return "$status"
}

spaces=(no)
! unshare -Urm true 2>/dev/null || spaces+=(yes)
for space in "${spaces[@]}"; do
    check "namespace $space: there is none unless asked for" on_card --namespace "$space" -- "$render" --none
    export TURNPIKE_RENDER_NODE=1
    check "namespace $space: both nodes of one device, and the kernel's rules" \
        on_card --namespace "$space" -- "$render"
    check "namespace $space: modetest is on the card" on_card --namespace "$space" -- modetest -M turnpike -c
    check "namespace $space: drm_info" on_card --namespace "$space" -- drm_info -j
    check "namespace $space: and it lists one card, which has its screens" \
        json_holds '(keys == ["/dev/dri/card0"]) and (.["/dev/dri/card0"].connectors | length == 1)' out
    [[ $space == no ]] || check 'programs that do not ask the C library see it too' on_card --namespace yes -- \
        env -u LD_PRELOAD grep -qx 226:128 /sys/class/drm/renderD128/dev
    unset TURNPIKE_RENDER_NODE
done

# Without TURNPIKE_TREE, the two kinds of tree lie side by side.
mkdir -m 700 runtime
"$TURNPIKE" serve --socket "$PWD/card" >served 2>&1 </dev/null &
server=$!
for ((i = 0; i < 200; i++)); do
    [[ ! -S card ]] || break
    sleep 0.05
done
by_hand() { # arguments...
    XDG_RUNTIME_DIR=$PWD/runtime TURNPIKE_SOCKET=$PWD/card \
        LD_PRELOAD=$(dirname "$TURNPIKE")/src/frames/shim/libturnpike-drm.so timeout 20 "$render" "$@"
}
check 'by hand: none' by_hand --none
check 'by hand: asked for' env TURNPIKE_RENDER_NODE=1 bash -c "$(declare -f by_hand); render=$render by_hand"
check 'by hand: none again' by_hand --none
kill "$server"
wait "$server"
tap_close
