#!/bin/bash
# The whole road: vkcube, our Vulkan driver, gamescope, our render node and card, the simulated screen; unmodified
# programs, X11. gamescope wants a newer lavapipe than bookworm's: Debian's own backport of it is unpacked once,
# beside other downloads, and nothing is installed. Skipped where it cannot be had.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lavapipe25.sh"
cd "$TP_TMP" || exit 2
PATH=$PATH:/usr/games
need gamescope Xwayland vkcube convert display jq dpkg-deb

lavapipe_25 gamescope

road() { # seconds, arguments...
    local seconds=$1 status=0
    shift
    played "$seconds" play --compositor gamescope --driver "$lavapipe" --size 1280x720 --seconds "$seconds" --verbose \
        --json report.json --snapshot shown.png "$@" >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 30 err | sed 's/^/# /'
    printf '# %s\n' "$(jq -c '{frames, fps, tears, notes}' report.json)"
    return "$status"
}

spaces=(no)
! unshare -Urm true 2>/dev/null || spaces+=(yes)
for space in "${spaces[@]}"; do
    check "namespace $space: vkcube runs in gamescope" road 8 --namespace "$space" -- vkcube --width 1280 --height 720
    check 'its frames are on the screen' json_holds '.frames >= 60' report.json
    check 'none is torn' json_holds '.tears == 0' report.json
    check 'their buffers are released by notes, none of which is lost' \
        json_holds '.notes.final >= 60 and .notes.lost == 0' report.json
    check 'the picture is a cube' cube_is_there shown.png
    check 'its driver says how' grep -q 'turnpike: images are shared memory that the driver renders into' err
done
check 'a window that is smaller is scaled by the screen' road 8 -- vkcube
check 'its frames are on the screen too' json_holds '.frames >= 60 and .tears == 0' report.json
check 'the picture is a cube too' cube_is_there shown.png
check 'one after another, each with its surface' road 10 -- sh -c 'vkcube --c 30; vkcube --c 30; exec vkcube'
check 'the last one is on the screen' json_holds '.notes.final >= 60 and .tears == 0' report.json

check 'without release notes' road 8 --gate off --release-fence off -- vkcube --width 1280 --height 720
check 'there are none' json_holds '.frames >= 60 and .notes.final == 0' report.json

# --- a driver that is not good enough ---

# Only what is named here, and what is in the folder, is on this machine.
mkdir -p data/vulkan/icd.d nothing
printf '{"file_format_version": "1.0.1", "ICD": {"library_path": "%s", "api_version": "1.4.0"}}\n' \
    "$lavapipe" >data/vulkan/icd.d/better.json
less=$(build_folder)/tests/frames/icd/libless_driver.so better=$lavapipe
lesser() { # folder of manifests, arguments of road...
    local data=$1 lavapipe=$less
    shift
    LESS_OF=$better LESS_EXTENSIONS='VK_EXT_external_memory_host' HOME=$PWD/nothing XDG_CONFIG_HOME=$PWD/nothing \
        XDG_CONFIG_DIRS=$PWD/nothing XDG_DATA_HOME=$PWD/$data XDG_DATA_DIRS=$PWD/nothing road "$@"
}
lacks() {
    lesser nothing 6 -- vkcube
    test $? -eq 3 && grep -q 'gamescope: the Vulkan driver lacks VK_EXT_image_drm_format_modifier' err
}
renders() {
    lesser data 12 -- vkcube --width 1280 --height 720 &&
        grep -q "gamescope renders with $PWD/data/vulkan/icd.d/better.json" err
}
check 'a driver that lacks what gamescope demands is told before it starts' lacks
check 'another one on this machine renders for it then' renders
check 'and frames are on the screen' json_holds '.frames >= 5' report.json

# An X client that knows no Vulkan: its pixels go by shared memory, and gamescope composes them.
four_colours sent.png
check 'an X11 picture' road 6 -- display sent.png
check 'is on the screen' test "$(pixel shown.png 320 180)$(pixel shown.png 960 180)" = "${colours[0]}${colours[1]}"
tap_close
