#!/bin/bash
# The whole road: vkcube, our Vulkan driver, gamescope, our render node and card, the simulated screen; unmodified
# programs, X11. gamescope wants a newer lavapipe than bookworm's: Debian's own backport of it is unpacked once,
# beside other downloads, and nothing is installed. Skipped where it cannot be had.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
PATH=$PATH:/usr/games
need gamescope Xwayland vkcube convert display jq dpkg-deb

cannot() { # why
    printf 'gamescope: %s\n' "$1"
    exit 77
}

# lavapipe with samplerYcbcrConversion, into the folder, whole or not at all.
root=${TURNPIKE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/turnpike}/lavapipe-25
unpack() {
    local options said work
    options=$("$TP_SRC/tools/private-apt" deb native bookworm bookworm-backports 2>said) ||
        cannot "$(tail -n 1 said)"
    work=$(mktemp -d "$root.XXXXXX")
    if ! said=$(cd "$work" && apt-get "$options" -q -t bookworm-backports download mesa-vulkan-drivers 2>&1); then
        rm -rf "$work"
        cannot "lavapipe 25 cannot be fetched: $(grep -m 1 '^[EW]:' <<<"$said")"
    fi
    dpkg-deb -x "$work"/*.deb "$work/root" || exit 2
    touch "$work/root/stamp"
    chmod 755 "$work/root"
    rm -rf "$root"
    mv "$work/root" "$root"
    rm -rf "$work"
}
mkdir -p "${root%/*}" && exec 9>>"$root.lock" || cannot "${root%/*} cannot be used"
flock 9
[[ -f $root/stamp ]] || unpack
exec 9>&-
lavapipe=$(echo "$root"/usr/lib/*/libvulkan_lvp.so)
[[ -f $lavapipe ]] || cannot "there is no lavapipe in Debian's package"
! ldd "$lavapipe" | grep 'not found' || cannot "this machine's libraries are too old, or too new, for it"

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
    check 'its frames are on the screen' json_holds '.frames >= 100' report.json
    check 'none is torn' json_holds '.tears == 0' report.json
    check 'their buffers are released by notes, none of which is lost' \
        json_holds '.notes.final >= 100 and .notes.lost == 0' report.json
    check 'the picture is a cube' cube_is_there shown.png
    check 'its driver says how' grep -q 'turnpike: images are shared memory that the driver renders into' err
done
check 'a window that is smaller is scaled by the screen' road 8 -- vkcube
check 'its frames are on the screen too' json_holds '.frames >= 100 and .tears == 0' report.json
check 'the picture is a cube too' cube_is_there shown.png
check 'one after another, each with its surface' road 10 -- sh -c 'vkcube --c 30; vkcube --c 30; exec vkcube'
check 'the last one is on the screen' json_holds '.notes.final >= 60 and .tears == 0' report.json

check 'without release notes' road 8 --gate off --release-fence off -- vkcube --width 1280 --height 720
check 'there are none' json_holds '.frames >= 100 and .notes.final == 0' report.json

# An X client that knows no Vulkan: its pixels go by shared memory, and gamescope composes them.
four_colours sent.png
check 'an X11 picture' road 6 -- display sent.png
check 'is on the screen' test "$(pixel shown.png 320 180)$(pixel shown.png 960 180)" = "${colours[0]}${colours[1]}"
tap_close
