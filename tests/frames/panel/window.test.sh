#!/bin/bash
# A card whose screen is shown in a window: on Xvfb with modetest's picture, and how it ends. What
# windows show on each desktop is window_test.c's.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/../clients/lib.sh"
cd "$TP_TMP" || exit 2
need Xvfb sway swaymsg modetest import compare
unset WAYLAND_DISPLAY DISPLAY
size=320x200 desktop=
trap '[[ -z $desktop ]] || kill "$desktop" 2>/dev/null' EXIT

start_x() {
    Xvfb -displayfd 7 -screen 0 ${size}x24 -nolisten tcp -noreset 7>number 2>/dev/null &
    desktop=$!
    for ((i = 0; i < 500; i++)); do
        [[ ! -s number ]] || break
        sleep 0.02
    done
    DISPLAY=:$(<number)
    export DISPLAY
}

# Waits for a line of serve's that names its socket.
serving() { # options...
    "$TURNPIKE" serve --panel window --size $size --socket @window-$$ "$@" >served 2>err &
    server=$!
    for ((i = 0; i < 500; i++)); do
        [[ ! -s served ]] || return 0
        sleep 0.02
    done
    cat err >&2
    return 1
}

# serve ends by itself, with this status.
ends() { # status
    local status=0
    timeout 20 tail --pid="$server" -f /dev/null
    kill -KILL "$server" 2>/dev/null
    wait "$server" || status=$?
    [[ $status -eq $1 ]] || {
        echo "# it ended with $status"
        return 1
    }
}

start_x
played 20 play --size $size --seconds 20 -- modetest -M turnpike >out 2>err
connector=$(awk '$3 == "connected" { print $1; exit }' out)
crtc=$(awk '/^CRTCs/ { getline; getline; print $1; exit }' out)
played 10 play --panel window --size $size --seconds 10 --snapshot shown.png -- \
    modetest -M turnpike -s "$connector@$crtc:$size" >out 2>err < <(exec sleep 30 2>/dev/null) &
player=$!
for ((i = 0; i < 40; i++)); do
    import -window root desktop.png
    [[ $(pixel desktop.png 22 50) != C0C0C0 ]] || break
    sleep 0.2
done
check 'a program runs on a screen in a window' wait $player
same() {
    [[ $(compare -metric AE desktop.png shown.png null: 2>&1) == 0 ]]
}
check "and the desktop shows what the screen shows" same
check 'which is its picture' test "$(pixel shown.png 22 50)" = C0C0C0

check 'serve opens a window' serving
kill "$desktop"
wait "$desktop"
desktop=
check 'when the desktop goes away, it ends with an error' ends 1
check 'that says so' grep -q 'the X server has ended the connection' err
unset DISPLAY

# sway refuses root: then as another user.
chmod 755 "$TP_TMP"
mkdir runtime
as=()
if [[ $EUID -eq 0 ]]; then
    chown 1000:1000 runtime
    as=(setpriv --reuid 1000 --regid 1000 --clear-groups)
fi
chmod 700 runtime
export XDG_RUNTIME_DIR=$PWD/runtime SWAYSOCK=$PWD/runtime/sway.sock
WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 \
    "${as[@]}" sway --config /dev/null >sway.log 2>&1 &
desktop=$!
for ((i = 0; i < 500; i++)); do
    [[ ! -S runtime/wayland-1 ]] || break
    sleep 0.02
done
export WAYLAND_DISPLAY=wayland-1
check 'serve opens a window on Wayland' serving --snapshot closed.png
closes() {
    for ((i = 0; i < 250; i++)); do
        ! swaymsg '[app_id="turnpike"] kill' >/dev/null 2>&1 || return 0
        sleep 0.02
    done
    return 1
}
check 'a person closes it' closes
check 'that is its end' ends 0
check 'with the last picture' test -s closed.png
tap_close
