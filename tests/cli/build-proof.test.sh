#!/bin/bash
# `turnpike build` proves what it packed before it goes out. On a Mesa of a few lines, whose driver
# carries the real ELF note and promises a text; there is no chip that it knows.
# timeout: 600
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
. "$(dirname "$0")/tiny.sh"
export TURNPIKE_DATADIR=$TP_SRC
cd "$TP_TMP" || exit 2

tiny_mesa .
cat >>patches/10-says.edit <<'END'

edit      src/freedreno/vulkan/tu_queue.c
  form "what Android's loader asks for"
    match
      int tiny_queue(int n);
    after
      extern const int HMI;
      __attribute__((visibility("default"))) const int HMI = 0;
END
cp -r patches broken
sed -i 's/^proof .*/proof     text has "what nobody says"/' broken/10-says.edit
archive=WN-Host-Android-Turnip-25.0.7-b_Axxx.zip
build() {
    "$TURNPIKE" build --target host-android --variants b --mesa tiny --out out "$@" >said 2>err </dev/null
}

build --patches patches
check 'a driver that keeps its promise: exit status 0' test $? -eq 0
check 'its archive is there' test -f "out/$archive"
check 'the summary has the proof, under the name of the archive' json_holds \
    ".proof | length == 1 and .[0].ok and .[0].file == \"$archive\" and
        any(.[0].static[]; .id == \"says\" and .ok)" out/summary.json

before=$(sha256sum <"out/$archive")
build --patches broken --json told.json
check 'one that does not: exit status 1' test $? -eq 1
check 'the promise is named' grep -q '^ *says: .*what nobody says' said
check 'and what to do' grep -q -- '--no-prove' err
check 'with the same patches' grep -q -- "turnpike prove --patches .*broken" err
check 'the log has the proof' grep -q '^ *says *FAILS' out/work/host-android/build.log
check '--json has the proof, and no archive' json_holds \
    '.archives == [] and (.proof[0].ok|not) and any(.proof[0].static[]; .id == "says" and (.ok|not))' told.json
check 'the archive of an earlier build is as it was' test "$(sha256sum <"out/$archive")" = "$before"
rm -rf out
build --patches broken
check 'a first build that fails leaves no archive and no summary' test \
    -z "$(find out -maxdepth 1 -type f)"
build --patches broken --no-prove
check '--no-prove packages all the same' test -f "out/$archive"
check 'and the summary has no proof' json_holds '.proof == []' out/summary.json

# The note's own size, for texts of each length modulo four.
for text in a ab abc abcd; do
    sed -e "s/@NOTE_JSON_C@/\"$text\"/" -e 's/@[A-Z_]*@/x/g' \
        "$TP_SRC/patches/driver-label/tu_turnpike.c" >note.c
    gcc -Wall -Wextra -Werror -shared -fPIC -I"$TP_SRC/patches/driver-label" note.c -o note.so
    check "a note of ${#text} characters fills its section" bash -c \
        "readelf -Wn note.so 2>&1 | grep -q '  turnpike' && ! readelf -Wn note.so 2>&1 | grep -i warning"
done
tap_close
