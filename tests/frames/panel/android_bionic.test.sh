#!/bin/sh
# The phone's screen and the app's interface, compiled for bionic, and our types of Android's calls
# against the NDK's. Arguments: the source's folder, clang, flags for the DRM headers. The NDK's
# sysroot is named by TURNPIKE_SYSROOT; 77: skipped without.
set -eu
src=$1 clang=$2 flags=${3-}
sysroot=${TURNPIKE_SYSROOT-}
if [ ! -d "$sysroot/usr/include/android" ]; then
    echo "TURNPIKE_SYSROOT names no NDK sysroot"
    exit 77
fi
for f in "$src"/src/frames/panel/android*.c "$src"/src/frames/server/embed.c "$src"/src/frames/server/jni.c; do
    # shellcheck disable=SC2086 # flags are several words
    "$clang" --target=aarch64-linux-android31 --sysroot="$sysroot" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra \
        -Wpedantic -Werror -I"$src/src" -I"$src/include" $flags -fsyntax-only "$f"
done
# Newer calls are declared with their level: the newest one of all.
"$clang" --target=aarch64-linux-android36 --sysroot="$sysroot" -x c++ -std=gnu++17 -nostdinc++ -Wall \
    -Wno-availability -Werror -I"$src/src" -fsyntax-only "$src/tests/frames/panel/cross/android_abi.cc"
