#!/bin/bash
# vkmark, from Debian trixie's packages, by our driver: in weston, on an X server, and on the screen itself. Skipped where
# the packages cannot be had.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/trixie.sh"
. "$(dirname "$0")/xvfb.sh"
cd "$TP_TMP" || exit 2
need weston Xvfb import convert jq dpkg-deb

trixie_unpack vkmark vkmark libassimp5 libdraco8 libminizip1t64 libpugixml1v5 libc6 libgcc-s1 libstdc++6 libxcb-icccm4
trixie_program vkmark "$root/usr/bin/vkmark" --winsys-dir "$libraries/vkmark" --data-dir "$root/usr/share/vkmark"
PATH=$PWD/bin:$PATH

# Its cube is, before its grey: many colours in a part of the picture.
vkmark_cube_is_there() { # file
    local grey colours
    grey=$(convert "$1" -fuzz 2% -fill white -opaque '#808080' -fuzz 0 -fill black +opaque white -format '%[fx:mean]' \
        info:)
    colours=$(convert "$1" -format '%k' info:)
    echo "# grey: $grey; $colours colours"
    awk -v grey="$grey" -v n="$colours" 'BEGIN { exit !(grey > 0.3 && grey < 0.95 && n > 200) }'
}
runs() { # what, play's arguments...
    local what=$1 status=0
    shift
    rm -f report.json shown.png
    played 10 play --size 640x480 --gate off --json report.json --verbose "$@" >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 20 out err | sed 's/^/# /'
    check "$what" test $status -eq 0
    check '  its driver is ours' grep -q '^turnpike: images are' err
}

for where in wayland display; do
    options=()
    [[ $where != wayland ]] || options=(--compositor weston)
    runs "$where: two scenes, to their end" "${options[@]}" -- \
        vkmark --winsys $where -s 640x480 -b clear:duration=0.5 -b cube:duration=0.5
    check '  with a score' grep -qE 'vkmark Score: [1-9]' out
    check '  frames are on the screen' json_holds '.frames >= 10' report.json
    runs "$where: a cube" "${options[@]}" --seconds 2 --snapshot shown.png -- \
        vkmark --winsys $where -s 640x480 --run-forever -b cube:duration=10
    check '  is on the screen' vkmark_cube_is_there shown.png
done
check '  there none is torn, and notes release its images' json_holds '.tears == 0 and .notes.final >= 10' report.json

xvfb_start
VK_DRIVER_FILES=$PWD/icd.json VK_ICD_FILENAMES=$PWD/icd.json TURNPIKE_GATE=off \
    vkmark --winsys xcb -s 640x480 --run-forever -b cube:duration=10 >out 2>err </dev/null &
vkmark=$!
check 'xcb: a cube is in the window' xvfb_until vkmark_cube_is_there
check '  its driver is ours' grep -q '^turnpike: images are' err
kill $vkmark
wait $vkmark
check '  it ends when it is asked to' test $? -eq 0
tap_close
