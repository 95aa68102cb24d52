#!/bin/bash
# weston 14, from Debian trixie's packages, on a card of ours. They are unpacked once, beside other downloads, and
# run in place with their own C library: nothing is installed. Skipped where the packages cannot be had.
# timeout: 200
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/trixie.sh"
cd "$TP_TMP" || exit 2
need weston-image convert compare jq dpkg-deb

packages=(
    weston libweston-14-0 libc6 libgcc-s1 libdrm2 libdisplay-info2 libgbm1 libseat1 libsystemd0 libcap2 libudev1
    libinput10 libevdev2 libmtdev1t64 libwacom9 libgudev-1.0-0 libxkbcommon0 libpam0g libaudit1 libcap-ng0
    libwayland-client0 libwayland-cursor0 libwayland-server0 libffi8 libva2 libva-drm2 libegl1 libgles2 libglvnd0
    liblcms2-2 libpixman-1-0 libcairo2 libpng16-16t64 libjpeg62-turbo libwebp7 libsharpyuv0 zlib1g libexpat1
    libfontconfig1 libfreetype6 libbrotli1 libbz2-1.0 libpango-1.0-0 libpangocairo-1.0-0 libpangoft2-1.0-0
    libharfbuzz0b libgraphite2-3 libfribidi0 libthai0 libdatrie1 libglib2.0-0t64 libpcre2-8-0 libmount1 libblkid1
    libselinux1 libatomic1 libx11-6 libxcb1 libxau6 libxdmcp6 libxext6 libxrender1 libxcb-render0 libxcb-shm0
)
trixie_unpack 'weston 14' "${packages[@]}"
trixie_program weston "$root/usr/bin/weston"
modules="drm-backend.so=$libraries/libweston-14/drm-backend.so;desktop-shell.so=$libraries/weston/desktop-shell.so"
for program in weston-desktop-shell weston-keyboard; do
    trixie_program $program "$root/usr/libexec/$program"
    modules+=";$program=$PWD/bin/$program"
done

four_colours sent.png
spaces=(no)
! unshare -Urm true 2>/dev/null || spaces+=(yes)
for space in "${spaces[@]}"; do
    status=0
    PATH=$PWD/bin:$PATH WESTON_MODULE_MAP=$modules played 4 play --size 1280x720 --compositor weston \
        --namespace "$space" --verbose --seconds 4 --snapshot shown.png --json report.json -- \
        weston-image sent.png >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 30 err >&2
    said=$(grep -om 1 'weston 14[0-9.]*' err)
    check "namespace $space: runs for its time" test $status -eq 0
    check "namespace $space: it is ${said:-another one}" test -n "$said"
    check "namespace $space: its client's picture is on the screen" picture_is_there shown.png sent.png
    check "namespace $space: reports what it showed" json_holds '.frames >= 2' report.json
done

# By our Vulkan driver and this machine's lavapipe.
if command -v vkcube-wayland >/dev/null; then
    check 'vkcube-wayland runs in it' env PATH="$PWD/bin:$PATH" WESTON_MODULE_MAP="$modules" timeout -k 10 60 \
        "$TURNPIKE" play --size 1280x720 --compositor weston --seconds 6 --snapshot shown.png --json report.json -- \
        vkcube-wayland
    check 'its frames are on the screen' json_holds '.frames >= 100' report.json
    check 'the picture is a cube' cube_is_there shown.png
fi
tap_close
