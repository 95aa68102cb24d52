#!/bin/sh
# The phone's screen on its double, built for arm64 and run under qemu. Arguments: the source's
# folder, an arm64 compiler, qemu, and flags for the DRM headers. 77: skipped.
set -eu
src=$1 cc=$2 qemu=$3 flags=${4-}
tests=$src/tests/frames/panel
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compile() {
    # shellcheck disable=SC2086 # flags are several words
    "$cc" -std=gnu11 -O1 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$src/src" -I"$tests/cross" -I"$tests" \
        $flags "$@"
}
if ! echo 'int main(void) { return 0; }' | "$cc" -x c -o "$out/probe" - || ! "$qemu" -L /usr/aarch64-linux-gnu "$out/probe"; then
    echo "no arm64 compiler or emulator that works"
    exit 77
fi
compile -fPIC -shared -Wl,-soname,libnativewindow.so -o "$out/libnativewindow.so" "$tests/double/nativewindow.c"
compile -fPIC -shared -Wl,-soname,libandroid.so -o "$out/libandroid.so" "$tests/double/flinger.c" \
    "$tests/double/choreographer.c" "$out/libnativewindow.so" -lpthread
for f in "$src"/src/frames/panel/android*.c "$src/src/frames/panel/compose.c" \
    "$src/src/frames/panel/image.c" "$src/src/frames/panel/sim_memory.c" "$src/src/base/buf.c" "$src/src/base/error.c" "$tests/android_guest.c"; do
    compile -c -o "$out/$(basename "$f" .c).o" "$f"
done
for t in android_test android_soak_test android_ledger_test; do
    objects=$out/android_ledger.o libraries=
    if [ $t != android_ledger_test ]; then
        objects="$(echo "$out"/*.o)"
        libraries="-L$out -l:libandroid.so -l:libnativewindow.so -Wl,-rpath,$out -Wl,--wrap=dlsym -Wl,--wrap=close"
    fi
    # shellcheck disable=SC2086
    compile -o "$out/$t" "$tests/$t.c" $objects $libraries -ldl -lpthread -lm
    TURNPIKE_COMMITS=${TURNPIKE_COMMITS:-2000} "$qemu" -L /usr/aarch64-linux-gnu "$out/$t"
done
