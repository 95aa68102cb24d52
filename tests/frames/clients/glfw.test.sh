#!/bin/bash
# A window of GLFW's (glfw.c) by our driver, under the validation layer: on an X server with Debian bookworm's GLFW 3.3,
# on Wayland with trixie's GLFW 3.4, which is unpacked and not installed. The window grows on the way. GLFW ends in weston
# by a segmentation fault, with any driver: see sdl.test.sh.
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/trixie.sh"
. "$(dirname "$0")/xvfb.sh"
cd "$TP_TMP" || exit 2
program=$(build_folder)/tests/frames/clients/glfw
need "$program" sway Xvfb import convert jq dpkg-deb
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation

says_nothing() {
    ! grep -E 'VUID|UNASSIGNED|SYNC-HAZARD|Validation' out err
}
# Its colour, in a window of 400x300.
grown() { # file
    local at
    at=$(box "$1" FF00FF)
    echo "# $at"
    [[ $at == 400x300+* ]]
}

xvfb_start
export VK_DRIVER_FILES=$PWD/icd.json VK_ICD_FILENAMES=$PWD/icd.json
status=0
timeout 20 "$program" 90 >out 2>err </dev/null || status=$?
sed 's/^/# /' out
check 'X11: 90 frames and an end' test $status -eq 0
check '  its driver is ours' grep -q '^turnpike: images are' err
check '  the window got a second swapchain' grep -qE ' [2-9] swapchains' out
check '  the validation layer says nothing' says_nothing
"$program" 0 >out 2>err </dev/null &
glfw=$!
check '  its colour is in the window, which has grown' xvfb_until grown
kill $glfw
wait $glfw 2>/dev/null
unset DISPLAY VK_DRIVER_FILES VK_ICD_FILENAMES

if (trixie_unpack glfw libglfw3 libdecor-0-0) >said 2>&1; then
    trixie_unpack glfw libglfw3 libdecor-0-0
    status=0
    played 3 play --compositor sway --size 640x480 --seconds 3 --verbose --json report.json --snapshot shown.png -- \
        env LD_LIBRARY_PATH="$libraries" "$program" 0 >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 20 out err | sed 's/^/# /'
    check 'Wayland, sway: it runs for its time' test $status -eq 0
    check '  frames are on the screen' json_holds '.frames >= 30' report.json
    check '  its colour is' test "$(pixel shown.png 320 240)" = FF00FF
    check '  its driver is ours' grep -q '^turnpike: images are' err
    check '  the validation layer says nothing' says_nothing
else
    tap 0 "Wayland # SKIP $(tail -n 1 said)"
fi
tap_close
