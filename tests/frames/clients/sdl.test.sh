#!/bin/bash
# SDL2's testvulkan (Debian's libsdl2-tests) by our driver, under the validation layer: on Wayland and on an X server. It
# fills its window with one colour after another. SDL 2.26 ends in weston by a segmentation fault, with any driver: weston
# has no wl_seat where there is no input device.
# timeout: 90
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/xvfb.sh"
cd "$TP_TMP" || exit 2
program=/usr/libexec/installed-tests/SDL2/testvulkan
need "$program" sway cage Xvfb import convert jq
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation

says_nothing() {
    ! grep -E 'VUID|UNASSIGNED|SYNC-HAZARD|Validation' out err
}
one_colour() { # file
    local n mean
    n=$(convert "$1" -crop 320x240+160+120 +repage -format '%k' info:)
    mean=$(convert "$1" -crop 320x240+160+120 +repage -format '%[fx:mean]' info:)
    echo "# $n colours, mean $mean"
    [[ $n -eq 1 ]] && awk -v mean="$mean" 'BEGIN { exit !(mean > 0.1) }'
}

for compositor in sway cage; do
    status=0
    played 3 play --compositor $compositor --size 640x480 --seconds 3 --verbose --json report.json --snapshot shown.png -- \
        env SDL_VIDEODRIVER=wayland "$program" >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 20 out err | sed 's/^/# /'
    check "$compositor: testvulkan runs for its time" test $status -eq 0
    check '  its driver is ours' grep -q '^turnpike: images are' err
    check '  frames are on the screen' json_holds '.frames >= 30' report.json
    check '  one colour is' one_colour shown.png
    check '  the validation layer says nothing' says_nothing
done

xvfb_start
VK_DRIVER_FILES=$PWD/icd.json VK_ICD_FILENAMES=$PWD/icd.json SDL_VIDEODRIVER=x11 "$program" >out 2>err </dev/null &
sdl=$!
check 'X11: one colour is in its window' xvfb_until one_colour
mv screen.png before.png
another_colour() { # file
    [[ $(pixel "$1" 320 240) != "$(pixel before.png 320 240)" ]]
}
check '  and another one later' xvfb_until another_colour
kill $sdl
wait $sdl
check '  it ends when it is asked to' test $? -eq 0
check '  its driver is ours' grep -q '^turnpike: images are' err
check '  the validation layer says nothing' says_nothing
tap_close
