#!/bin/bash
# What `turnpike prove` says of files that are no driver, that carry a damaged note, that are not
# started, and of chips by their names: "Proved." only where something was.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
cd "$TP_TMP" || exit 2
build=${TP_BUILD:-$(dirname "$TURNPIKE")}

# status, words that must be in what is said, arguments…
proves() {
    local want=$1 words=$2 status=0
    shift 2
    "$TURNPIKE" prove "$@" >said 2>&1 </dev/null || status=$?
    check "prove $*: exit status $want" test "$status" -eq "$want"
    check "prove $*: says '$words'" grep -qF -- "$words" said
    check "prove $*: is not proved" bash -c '! grep -qx "Proved\." said'
}

# A file with an entry point whose body is $2 and, where there is $3, a note of that text.
driver() {
    {
        echo '#include <unistd.h>'
        echo "void *vk_icdGetInstanceProcAddr(void *i, const char *n) { (void)i, (void)n; $2 }"
        if [[ -n ${3-} ]]; then
            printf '#define NOTE "%s"\n' "${3//\"/\\\"}"
            echo 'struct note { unsigned n, d, t; char o[12], text[(sizeof NOTE + 3) & ~3UL]; };'
            echo '__attribute__((section(".note.turnpike"), used, aligned(4))) static const'
            echo 'struct note note = {9, sizeof NOTE, 1, "turnpike", NOTE};'
        fi
    } >driver.c
    gcc -shared -fPIC -O1 driver.c -o "$1" "${@:4}"
}

proves 2 'no Vulkan driver' "$(gcc -print-file-name=libc.so.6)"
proves 2 'no Vulkan driver' /bin/sh
driver null.so 'return 0;'
proves 1 'NOT proved: it came up on no chip' null.so
check 'a driver of others: its promises are not known' grep -q '^Note: .*no promises are known' said
proves 1 'NOT proved: on A740 it was not run.' null.so --chip A740
"$TURNPIKE" prove null.so --chip 'Turnip Adreno (TM) 740' --json named.json >/dev/null 2>&1
check 'a chip by its name in a report' json_holds \
    '.ok == false and [.chips[].name] == ["FD740"] and .chips[0].status == "no-support"' named.json
proves 2 'there is no chip' null.so --chip FD999
proves 2 'no chip '"'"'a\x1b[31mb' null.so --chip $'a\e[31mb'

cp null.so riscv.so
printf '\363' | dd of=riscv.so bs=1 seek=18 conv=notrunc status=none
proves 2 'for another machine' riscv.so

echo 'int none;' >libc.c
gcc -shared -fPIC -nostdlib -Wl,-soname,libc.so libc.c -o libc.so
driver android.so 'return 0;' '' -nostdlib -Wl,--no-as-needed ./libc.so
proves 0 'The file holds; it was not started: ' android.so --json android.json
check 'a file that was only looked at: on no chip' json_holds '.ok and .chips == []' android.json
proves 2 'there is no chip' android.so --chip FD999

note='{"turnpike":"0.1.0","schema":1,"driver":"WN-1-b","variant":"b","target":"host","mesa":"25.0.7","patches":[],"chips":[{"name":"FD740","generation":"A7XX","quirks":[],"chip_ids":["0xffff43050a01"]},{"name":"FD643","generation":"A6XX","quirks":[],"chip_ids":["0xac06030500"]}]}'
damaged() { # words, sed's command
    driver note.so 'return 0;' "$(sed "$2" <<<"$note")"
    proves 2 "$1" note.so
}
damaged 'is not JSON' 's/}$//'
damaged 'has schema 9' 's/"schema":1/"schema":9/'
damaged 'has no array "patches"' 's/"patches":\[\],//'
damaged 'a target that there is not' 's/"host"/"hosx"/'
damaged 'neither b nor p' 's/"variant":"b"/"variant":"q"/'
damaged 'in a state that there is not' 's/"patches":\[\]/"patches":[{"id":"autotune","state":"bananas"}]/'
damaged 'lists a chip without' 's/"generation":"A7XX",//'
damaged 'is not JSON' 's/WN-1/\\xff/'

driver note.so 'return 0;' "$note"
proves 1 'NOT proved: on FD643 it was not run.' note.so --chip FD643
proves 1 'NOT proved: on 830 it was not run.' note.so --chip 830
mkdir patches
cp "$TP_SRC/patches/50-driver-label.edit" patches/
cp -r "$TP_SRC/patches/driver-label" patches/
proves 1 'there is no chips.expect in patches' note.so --patches patches --chip 740
for glob in 740 fd740 'FD9*'; do
    echo "on $glob fact api from 1.3" >patches/chips.expect
    proves 2 "there is no chip '$glob'" note.so --patches patches
done
: >patches/chips.expect

driver loud.so 'write(2, "\xff\xfe\033[31mred\n", 11); _exit(3);'
proves 1 '\xff\xfe\x1b[31mred' loud.so --chip 740 --json loud.json
check 'what a driver says does not reach the terminal as it is' bash -c '! grep -q $'"'\\e'"' said'
check 'and is in the report' json_holds '.chips[0].checks[0].detail | contains("red")' loud.json

# name, words, meta.json (none: no file) of an archive with note.so
archive() {
    rm -f "$1.zip"
    python3 - "$1.zip" "${3-}" <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as z:
    z.write('note.so', 'libvulkan_freedreno.so')
    if sys.argv[2]:
        z.writestr('meta.json', sys.argv[2])
END
    proves 1 "$2" "$1.zip" --chip 740 --patches patches
}
sha=$(sha256sum <note.so | cut -d' ' -f1)
meta() { # version, variant, sum
    printf '{"libraryName":"libvulkan_freedreno.so","driverVersion":"%s","variant":"%s","librarySha256":"%s"}' "$@"
}
archive sound 'says what the driver is' "$(meta WN-1-b b "$sha")"
check 'a meta.json that agrees holds' grep -q '^  meta  *holds' said
archive none 'has no meta.json'
archive cut 'is no JSON object' '{'
archive list 'is no JSON object' '[]'
archive nameless 'does not name its library' '{"driverVersion":"WN-1-b"}'
archive version 'driverVersion is "WN-2-b"' "$(meta WN-2-b b "$sha")"
archive variant 'variant is "p"' "$(meta WN-1-b p "$sha")"
archive sum 'librarySha256 is "00"' "$(meta WN-1-b b 00)"
check 'a meta.json that does not fails' grep -q '^  meta  *FAILS' said

if [[ -e /dev/full ]]; then
    LD_PRELOAD=$build/src/factory/kgsl/libturnpike-kgsl.so TURNPIKE_KGSL_CHIP=FD740 \
        TURNPIKE_KGSL_LOG=/dev/full cat /dev/kgsl-3d0 >/dev/null 2>err
    check 'a log that cannot be written is told once' test "$(grep -c 'the log cannot be written' err)" -eq 1
fi
proves 2 '--faults is a number' null.so --faults 1:18446744073709551616
proves 2 '--faults is a number' null.so --faults 2:9223372036854775807
tap_close
