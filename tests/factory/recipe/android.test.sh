#!/bin/bash
# The android-arm64 target with clang, lld and a sysroot laid out as bionic's, but empty: a C library
# of no functions. It proves the cross file (meson's checks hold, the flags reach clang and lld), not
# the driver; for that an NDK is needed. Functions are called through check, by name.
# shellcheck disable=SC2317,SC2016
set -u
. "$(dirname "$0")/../../scripts/mesa.sh"
cd "$(dirname "$0")" || exit 1
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
tool=$build/tests/factory/recipe/recipe_tool
for program in clang ld.lld llvm-ar llvm-strip; do
    command -v "$program" >/dev/null || { echo "there is no $program here" && exit 1; }
done
tmp=${TP_TMP:-$(mktemp -d)}
trap '[[ -n ${TP_TMP-} ]] || rm -rf "$tmp"' EXIT
unset ANDROID_NDK_HOME

has() { # pattern, command...
    local pattern=$1 out
    shift
    out=$("$@")
    grep -qE "$pattern" <<<"$out" || { printf '%s\n' "$out" && return 1; }
}
has_not() { # pattern, command...
    ! has "$@" >/dev/null
}

sysroot=$tmp/sysroot
lib=$sysroot/usr/lib/aarch64-linux-android/29
mkdir -p "$lib" "$sysroot"/usr/include/{c++/v1,aarch64-linux-android/asm}
for header in stdio.h stdint.h aarch64-linux-android/asm/types.h c++/v1/cstddef; do
    : >"$sysroot/usr/include/$header"
done
# Meson's checks print sizes when they can run; crossing, they only compile.
printf 'int printf(const char *, ...);\n' >"$sysroot/usr/include/stdio.h"
printf 'struct timespec;\n' >"$sysroot/usr/include/time.h"
compile() { clang --target=aarch64-linux-android29 -fPIC -nostdlib "$@"; }
for object in crtbegin_so crtend_so crtbegin_dynamic crtend_android crtbegin_static; do
    compile -c -x c /dev/null -o "$lib/$object.o"
done
for library in c m dl; do
    compile -fuse-ld=lld -shared -x c /dev/null -Wl,-soname,lib$library.so -o "$lib/lib$library.so"
done

so=$tmp/driver.so
check 'meson takes the cross file and the tree is built' \
    "$tool" -s "$sysroot" android-arm64 tiny "$tmp/b" "$so"
check 'it is an arm64 library' has 'Machine: *AArch64' readelf -h "$so"
check 'its segments are aligned for 16 KiB pages' has 'LOAD .* 0x4000$' readelf -lW "$so"
check 'and none for less' has_not 'LOAD .* 0x(1000|2000|10000)$' readelf -lW "$so"
check 'it needs no C++ library' has_not 'NEEDED.*(c\+\+|stdc)' readelf -d "$so"
check 'it has no RUNPATH' has_not 'R(UN)?PATH' readelf -d "$so"
check 'it has a build-id' has 'Build ID: [0-9a-f]{40}' readelf -n "$so"
check 'it was made by clang for API 29' has '^\*FLAGS.*aarch64-linux-android29' \
    sh -c 'sed -n "s/^c = /*FLAGS /p" "$1"/turnpike/machine.ini' - "$tmp/b"
sum=$(sha256sum <"$so")
check 'another place gives the same bytes' "$tool" -s "$sysroot" android-arm64 tiny "$tmp/x/y/b" "$so.2"
check '(compared)' test "$sum" = "$(sha256sum <"$so.2")"
check 'it is not loaded here' bash -c '"$@" 2>&1 | grep -q bionic' - \
    "$tool" -k -s "$sysroot" android-arm64 tiny "$tmp/b" "$so"
tap_close
