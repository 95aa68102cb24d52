#!/bin/bash
# Unmodified Vulkan programs by our driver: vkcube on Wayland and X11 under the validation layer, mpv in a compositor
# and on the screen itself, MangoHud's layer. With --full, 100,000 validated frames each.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/../clients/lib.sh"
. "$(dirname "$0")/../clients/xvfb.sh"
cd "$TP_TMP" || exit 2
need weston Xvfb vkcube vkcube-wayland vulkaninfo mpv convert jq

frames=20000
[[ -z ${TP_FULL-} ]] || frames=100000
validated=(env VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT)
cube=(--validate --suppress_popups --width 128 --height 128)
runs() { # what, command...: keeps its report
    local what=$1 status=0
    shift
    "$@" >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 30 err | sed 's/^/# /'
    check "$what" test $status -eq 0
}
# vkcube writes what the layer says, and a layer that is lacking, as that.
says_errors() {
    grep -qE 'VUID|UNASSIGNED|SYNC-HAZARD|Validation|ERROR : ' out err
}
says_nothing() {
    ! grep -E 'VUID|UNASSIGNED|SYNC-HAZARD|Validation|ERROR : ' out err
}

# As fast as it can: MAILBOX, where a frame takes the place of one that waits.
runs "vkcube-wayland: $frames frames in weston" timeout 150 "$TURNPIKE" play --compositor weston --size 640x480 \
    --gate off --seconds 150 --verbose -- "${validated[@]}" vkcube-wayland "${cube[@]}" --present_mode 1 --c $frames
check 'the validation layer says nothing' says_nothing
check 'its driver is ours' grep -q '^turnpike: images are' err
runs 'vkcube-wayland ends after its frames in a FIFO' played 10 play --compositor weston --size 640x480 --verbose \
    --json report.json -- "${validated[@]}" vkcube-wayland "${cube[@]}" --c 180
check 'the screen has shown nearly each' json_holds '.frames >= 120' report.json
check 'the validation layer says nothing to that' says_nothing

# X11, without a compositor: the driver by its manifest alone.
xvfb_start
x11=(env "DISPLAY=$DISPLAY" "VK_DRIVER_FILES=$PWD/icd.json" "VK_ICD_FILENAMES=$PWD/icd.json" TURNPIKE_GATE=off)
unset DISPLAY
runs "vkcube: $frames frames on an X server" timeout 150 "${x11[@]}" "${validated[@]}" vkcube "${cube[@]}" \
    --present_mode 0 --c $frames
check 'the validation layer says nothing' says_nothing
check 'its driver is ours' grep -q '^turnpike: images are' err
"${x11[@]}" timeout 60 vkcube "${cube[@]}" --force_errors --present_mode 0 --c 20 >out 2>err </dev/null
check "the layer does say vkcube's own errors" says_errors
device=$("${x11[@]}" vulkaninfo --summary 2>/dev/null | sed -nE 's/^\s*deviceName *= //p' | head -n 1)
kill "$xvfb"
wait "$xvfb" 2>/dev/null

check "MangoHud's layer is installed" compgen -G '/usr/share/vulkan/implicit_layer.d/MangoHud*.json'
runs "MangoHud's layer" played 4 play --compositor weston --size 1280x720 --seconds 4 --verbose \
    --json report.json --snapshot shown.png -- env MANGOHUD=1 vkcube-wayland
check 'frames are on the screen' json_holds '.frames >= 60' report.json
check 'the cube is' cube_is_there shown.png

# mpv's test source has bars of pure colours. It takes a software driver by its name only.
bars_are_there() { # file
    local colour share
    for colour in FF0000 00FF00 0000FF; do
        share=$(convert "$1" -fuzz 6% -fill black +opaque "#$colour" -fill white -opaque "#$colour" \
            -format '%[fx:mean]' info:)
        echo "# $colour: $share"
        awk -v share="$share" 'BEGIN { exit !(share > 0.01) }' || return 1
    done
}
counted='mp.add_periodic_timer(1, function()
    io.stderr:write(string.format("\ncounted: at %s s dropped %s delayed %s mistimed %s jitter %s\n",
        mp.get_property("time-pos"), mp.get_property("frame-drop-count"),
        mp.get_property("vo-delayed-frame-count"), mp.get_property("mistimed-frame-count"),
        mp.get_property("vsync-jitter")))
end)'
printf '%s\n' "$counted" >counted.lua
player=(mpv --no-config --no-audio --vo=gpu --gpu-api=vulkan "--vulkan-device=$device" --script=counted.lua
    --video-sync=display-resample --override-display-fps=60 av://lavfi:testsrc2=size=640x360:rate=30)
runs 'mpv in weston' played 5 play --compositor weston --size 1280x720 --seconds 5 --verbose \
    --json report.json --snapshot shown.png -- "${player[@]}" --gpu-context=waylandvk
grep '^counted' err | tail -n 1 | sed 's/^/# /'
check 'its frames are on the screen' json_holds '.frames >= 60' report.json
check 'its bars are' bars_are_there shown.png
# Its buffers are the screen's there.
runs 'mpv without a compositor' played 5 play --size 1280x720 --seconds 5 --verbose \
    --json report.json --snapshot shown.png -- "${player[@]}" --gpu-context=displayvk
grep '^counted' err | tail -n 1 | sed 's/^/# /'
printf '# %s\n' "$(jq -c '{frames, fps, tears, notes}' report.json)"
check 'its frames are on the screen' json_holds '.frames >= 60' report.json
check 'its bars are' bars_are_there shown.png
check 'none is torn' json_holds '.tears == 0' report.json
check 'its buffers are released by notes, none of which is lost' \
    json_holds '.notes.final >= 60 and .notes.lost == 0' report.json
tap_close
