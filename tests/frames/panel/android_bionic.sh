#!/bin/sh
# The library that apps embed, built for bionic, and our types of Android's calls against the NDK's.
# Arguments: the source's folder, clang, libdrm's header folder. The NDK's sysroot is named by
# TURNPIKE_SYSROOT; 77: skipped without.
set -eu
src=$1 clang=$2 drm=$3
sysroot=${TURNPIKE_SYSROOT-}
if [ ! -d "$sysroot/usr/include/android" ]; then
    echo "TURNPIKE_SYSROOT names no NDK sysroot"
    exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
CLANG=$clang DRM_HEADERS=$drm "$src/tools/android-server" "$sysroot" "$out/libturnpike-server.so"
# It needs the system's own libraries alone, and shows its interface alone.
readelf -dW "$out/libturnpike-server.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort >"$out/needs"
printf 'libc.so\nlibdl.so\nlibm.so\nlibz.so\n' | diff - "$out/needs"
nm -D --defined-only "$out/libturnpike-server.so" | sed 's/.* //' | sort >"$out/shown"
if grep -vE '^(turnpike_server_|Java_org_turnpike_DisplayServer_)' "$out/shown"; then
    echo "these are not for apps to see"
    exit 1
fi
for name in create destroy set_window resize pause resume repaint set_hdr adopt; do
    grep -qx "turnpike_server_$name" "$out/shown"
done
# Newer calls are declared with their level: the newest one of all.
"$clang" --target=aarch64-linux-android36 --sysroot="$sysroot" -x c++ -std=gnu++17 -nostdinc++ \
    -Wall -Wno-availability -Werror -I"$src/src" -fsyntax-only "$src/tests/frames/panel/cross/android_abi.cc"
