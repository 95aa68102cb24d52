#!/bin/bash
# The backend of IMapper 5 from many threads, under a data race detector; and the vendor double for
# arm64, where its compiler is.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
here=$TP_SRC/tests/patches/aimapper
flags=(-std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wno-missing-field-initializers
    -I"$here" -I"$here/mesa")

double() { # compiler, folder
    mkdir -p "$2" &&
        "$1" "${flags[@]}" -fPIC -fvisibility=hidden -shared -Wl,-soname,libvndksupport.so \
            "$here/double/vndksupport.c" -ldl -o "$2/libvndksupport.so" &&
        "$1" "${flags[@]}" -fPIC -fvisibility=hidden -shared \
            "$here/double/mapper.c" "$here/double/replies.c" -ldl -o "$2/mapper.qti.so"
}

exports() { # library, name...
    local library=$1 name symbols
    shift
    symbols=$(readelf -Ws --dyn-syms "$library" | awk '$7 != "UND" { print $8 }')
    for name; do
        grep -qx "$name" <<<"$symbols" || return 1
    done
}

check 'the double is made' double cc "$TP_TMP/double"
# shellcheck disable=SC2046
check 'the backend is made with the detector' cc -fsanitize=thread "${flags[@]}" \
    $(pkg-config --cflags libdrm) "$here/threads_test.c" "$here/mesa/mesa.c" \
    "$TP_SRC/patches/aimapper/u_gralloc_aimapper.c" -pthread -ldl -o "$TP_TMP/threads"
# Newer kernels place memory where older detectors do not look for it.
check 'no race, one mapper, each line once' env TP_DOUBLE="$TP_TMP/double" \
    TSAN_OPTIONS=halt_on_error=1 setarch -R "$TP_TMP/threads"

if command -v aarch64-linux-gnu-gcc >/dev/null; then
    check 'the double is made for arm64' double aarch64-linux-gnu-gcc "$TP_TMP/arm64"
    check 'with the names of a mapper' exports "$TP_TMP/arm64/mapper.qti.so" \
        ANDROID_HAL_MAPPER_VERSION AIMapper_loadIMapper
    check 'and of libvndksupport' exports "$TP_TMP/arm64/libvndksupport.so" \
        android_load_sphal_library android_unload_sphal_library
fi
tap_close
