#!/bin/bash
# What surrounds a proof changes nothing in it: the user's environment, where turnpike and TMPDIR lie,
# what killed runs left. On a library of a few lines that writes down what it was started with. And
# what is wrong around a proof is told before anything is run.
# Functions are called through check, by name.
# timeout: 200
# shellcheck disable=SC2317,SC2016
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
cd "$TP_TMP" || exit 2

cat >driver.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
extern char **environ;
__attribute__((constructor)) static void tell(void)
{
    Dl_info info;
    FILE *f = fopen(SEEN, "we");
    for (char **v = environ; f && *v; v++)
        fprintf(f, "%s\n", *v);
    if (f && dladdr((void *)tell, &info))
        fprintf(f, "driver=%s\n", info.dli_fname);
    fprintf(f, "open=%d\n", open("/dev/kgsl-3d0", O_RDWR) >= 0);
    fclose(f);
}
__attribute__((visibility("default"))) void *vk_icdGetInstanceProcAddr(void *instance, const char *name)
{
    return NULL;
}
END
cc -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -DSEEN="\"$PWD/seen\"" -o driver.so driver.c -ldl || exit 1

prove() { # in the given environment: status, said, err, seen
    rm -f seen
    status=0
    "$@" >said 2>err </dev/null || status=$?
}
has() { # line of seen
    grep -qxE -- "$1" seen
}
has_not() {
    [[ -s seen ]] && ! has "$1"
}

prove env TU_DEBUG=nir MESA_DEBUG=1 NIR_DEBUG=x IR3_SHADER_DEBUG=x FD_DEV_FEATURES=x VK_LAYER_PATH=/x \
    TURNPIKE_KGSL_FAULTS=enomem@open TURNPIKE_KGSL_CHIP=nothing TURNPIKE_KGSL_KERNEL=old \
    TURNPIKE_KGSL_WATCH=zz TURNPIKE_MAPPER=missing LD_LIBRARY_PATH=/x DISPLAY=:9 WAYLAND_DISPLAY=x \
    GALLIUM_HUD=x SOMETHING_ELSE=x LANG=C "$TURNPIKE" prove --chip FD740 driver.so
check 'the driver was started' test -s seen
check 'what the user has set for other programs does not reach it' \
    has_not '(TU_DEBUG|MESA_|NIR_|IR3_|FD_|VK_|TURNPIKE_MAPPER|TURNPIKE_KGSL_(FAULTS|KERNEL|WATCH)|DISPLAY|WAYLAND_|GALLIUM_|SOMETHING_|LD_LIBRARY_PATH).*'
check 'what the proof sets does' has 'TURNPIKE_KGSL_CHIP=(FD740|0x43050a01|0x07040001)'
check 'language and path are kept' has 'LANG=C'
check 'its home is a folder of the run' has 'HOME=/.*/\.tp-[0-9]+-.*'
check 'the simulated device is there' has 'open=1'
check 'without a terminal a line says what goes on' grep -q 'proving on FD740' err

strange="$PWD/a b:c;d,e\$f"
mkdir -p "$strange" plain
prove env TMPDIR="$PWD/plain" "$TURNPIKE" prove --chip FD740 driver.so
check 'TMPDIR is where a run lies' has "driver=$PWD/plain/.*"
prove env TMPDIR="$strange" "$TURNPIKE" prove --chip FD740 driver.so
check 'but not where LD_PRELOAD would split its path' has 'open=1'
check 'nothing was put there' test -z "$(ls -A "$strange")"

# turnpike itself in such a folder
build=$(dirname "$TURNPIKE")
parts=src/factory/kgsl/libturnpike-kgsl.so
mkdir -p "$strange/t/${parts%/*}" "$strange/t/src/factory/prove/client"
cp "$TURNPIKE" "$strange/t/turnpike"
cp "$build/$parts" "$strange/t/$parts"
cp "$build/src/factory/prove/client/prove-client" "$strange/t/src/factory/prove/client/"
prove "$strange/t/turnpike" prove --chip FD740 driver.so
check 'a turnpike whose own path has such characters has its simulator' has 'open=1'
rm "$strange/t/$parts"
prove "$strange/t/turnpike" prove --chip FD740 driver.so
check 'a turnpike without its parts: exit status 3' test "$status" -eq 3
check 'a link to it is offered' grep -q 'a link to it' err

# what a killed run left
dead=$(sh -c 'echo $$')
mkdir "plain/.tp-$dead-abc123" "plain/.tp-$$-abc123"
touch "plain/.tp-$dead-abc123/libvulkan_freedreno.so"
prove env TMPDIR="$PWD/plain" "$TURNPIKE" prove --chip FD740 driver.so
check 'what a killed run left goes' test ! -e "plain/.tp-$dead-abc123"
check 'what a living one has stays' test -e "plain/.tp-$$-abc123"
check 'and nothing of this run is left' test "$(ls -A plain)" = ".tp-$$-abc123"

# not the driver's fault
no_memory() {
    (ulimit -v 2000000 && "$TURNPIKE" prove --chip FD740 driver.so)
}
prove no_memory
check 'too little memory for the simulated device: exit status 3' test "$status" -eq 3
check 'the limit is named' grep -q 'ulimit -v' err

# the report's place
cp driver.so kept.so
prove "$TURNPIKE" prove --chip FD740 --json driver.so driver.so
check '--json does not write over the driver: exit status 2' test "$status" -eq 2
check 'the driver is as it was' cmp -s driver.so kept.so
prove "$TURNPIKE" prove --chip FD740 --json no/such/file driver.so
check 'a report that cannot be written: exit status 2' test "$status" -eq 2
check 'and nothing was started for it' test ! -e seen
prove env HOME=/no-such-home -u XDG_CACHE_HOME -u TURNPIKE_CACHE "$TURNPIKE" prove --chip FD740 driver.so
check 'a home that is not there is not made' test ! -e /no-such-home

# proof lines
wrong() { # a proof line, what is said of it
    printf 'patch a\ntitle t\nwhy w\nupstream needed 2026-11-29 x: y\nproof fact api from 1.1\nproof %s\nedit x.c\n  form "f"\n    match\n      foo()\n    replace\n      bar()\n' \
        "$1" >patches/1.edit
    local command
    for command in "prove --chip FD740 driver.so" "patch --check --target host mesa" \
        "build --target host --mesa mesa --out out"; do
        # shellcheck disable=SC2086
        prove "$TURNPIKE" $command --patches patches
        check "${command%% *}: $2: exit status 2" test "$status" -eq 2
        check "${command%% *}: $2: file and line" grep -qF "1.edit:6: $2" err
    done
}
mkdir -p mesa/src patches
echo 25.0.7 >mesa/VERSION
echo 'void f(void) { foo(); }' >mesa/x.c
wrong 'nonsense x' 'no such subject'
wrong 'check nosuch is ok' "there is no check 'nosuch'"
wrong 'run --only fence,nosuch : check fence is ok' "there is no check or group of checks 'nosuch'"
wrong 'call NOSUCH flags has 0x1' "there is no call 'NOSUCH'"
wrong 'call GPU_COMMAND flags has zz' 'has and lacks of a call'
wrong 'call gpu registers.NOSUCH.ever has 0x1' "there is no watched register 'NOSUCH'"
check 'nothing was built' test ! -e out
tap_close
