#!/bin/bash
# Wrong usage and bad input: exit status 2, the thing named, a way out said, nothing left behind.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
cd "$TP_TMP" || exit 2

# status, words that must be on standard error, arguments…
refused() {
    local want=$1 words=$2 status=0
    shift 2
    "$TURNPIKE" "$@" >said 2>err </dev/null || status=$?
    check "turnpike $*: exit status $want" test "$status" -eq "$want"
    check "turnpike $*: says '$words'" grep -qiF -- "$words" err
    check "turnpike $*: says what to do" grep -q 'what to do: ' err
    check "turnpike $*: nothing on standard output" test ! -s said
}

mkdir -p mesa/src empty patches
echo 25.0.7 >mesa/VERSION
printf 'patch a\ntitle t\nupstream needed 2026-11-29 x\nedit x.c\n  form "f"\n    match\n      foo(\n    replace\n      bar\n' >patches/1.edit
refused 2 "no command 'bild'" bild
refused 2 'which tree' patch
refused 2 'one tree at a time' patch mesa mesa
refused 2 '--faults is a number' prove x.so --faults 5:x
refused 2 'up to sixteen different rates' serve --refresh 60,0
refused 2 '--size is' serve --size 100x
refused 2 'less than a refresh' serve --latch -1
refused 2 'more than a refresh before' serve --latch 20000 --socket s
refused 2 'the lower first' serve --vrr 120-48
refused 2 '--pipeline is' serve --pipeline 3
refused 2 "no panel 'crt'" serve --panel crt
DISPLAY='' WAYLAND_DISPLAY='' refused 3 'no desktop to open a window on' serve --panel window --socket s
refused 2 'nothing to do with' serve now
refused 2 '--seconds is' top --seconds 0
refused 2 'nothing to do with' top now
refused 2 'no socket can have this name' top --socket @
refused 2 'there is no server' top --socket none
refused 2 'needs a --cap' simulate --gate cap
refused 2 'off, vsync, cap or latency' simulate --gate on
refused 2 'early or late' simulate --guest late:4
refused 2 'a range as 48-120' simulate --refresh 120-48
refused 2 '2 to 64' simulate --images 1
refused 2 'NAME:PER_MILLE' simulate --faults lost-note,rain
refused 2 'no cost of a frame' simulate --cost 8000+
refused 2 "a frame's number" simulate --chart-from x
refused 2 'nothing to do with' simulate now
refused 2 'both say what' simulate --trace mesa/VERSION --cost 1
refused 2 "no frame's cost" simulate --trace mesa/VERSION
refused 2 'lies within a refresh' simulate --latch 20000
refused 2 'is there, and is no socket' serve --socket mesa
refused 2 'name one capture' report
refused 2 'this is no capture' report mesa/VERSION
refused 2 'files of their own' report a.cap -o a.cap
refused 2 'which program to run' play --seconds 1
refused 2 'whole number' play --seconds 0 -- true
refused 2 'no recipe for the compositor' play --compositor mutter -- true
refused 2 'argument is empty' patch ''
refused 2 'has an empty value' build --ndk ''
refused 2 'both switched on and left out' patch mesa --with autotune --without autotune
refused 2 "no option '--chekc'" patch --chekc mesa
refused 2 '--variant is b or p' patch mesa --variant x
refused 2 '--target needs a value' patch mesa --target
refused 2 "no target 'arm'" patch mesa --target arm
refused 2 'no such folder' patch nowhere
refused 2 'no VERSION' patch empty
refused 2 "no patch called 'gmem'" patch mesa --with gmem
refused 2 'patch a8xx-gpus needs gmem-off-per-gpu' patch mesa --target host --without gmem-off-per-gpu
refused 2 '--revert goes alone' patch mesa --revert --check
refused 2 'nothing to revert' patch mesa --revert
refused 2 '1.edit:7' patch mesa --patches patches
refused 2 'give a range' notes
refused 2 'end of the range' notes --from 25.0.6
refused 2 'android or linux' notes --next-version windows
refused 2 'goes alone' notes --next-version linux --to 1
refused 2 'one argument too many' notes --from 1.0 --to 1.1 x
refused 2 'is no JSON' notes --summary mesa/VERSION
refused 2 'folder of patches cannot be read' patch mesa --patches nowhere
refused 2 'no patch in this folder' patch mesa --patches empty
refused 2 '--variants is b, p or b,p' build --variants b,q
refused 2 '--variants is b, p or b,p' build --variants b,b
refused 2 '--jobs is a number' build --jobs 0
refused 2 "no target 'x'" build --target x
refused 2 'one argument too many' build mesa
refused 2 '--version' build --version '../x'
refused 2 'nowhere' build --target host --mesa /nowhere/mesa
refused 2 "it's" build --target host --mesa mesa --out "it's"
check 'no folder is left of that' test ! -e "it's"
check 'no summary is left' test ! -e out/summary.json

"$TURNPIKE" --version >said
check 'the version' grep -qE '^turnpike [0-9]+\.[0-9]+\.[0-9]+$' said
for command in "" build chips doctor inspect notes patch play prove report serve simulate; do
    # shellcheck disable=SC2086
    "$TURNPIKE" $command --help >said
    check "turnpike $command --help: exit status 0" test $? -eq 0
    check "turnpike $command --help: one screen of 24 to 40 lines of 80 columns at most" \
        awk 'length > 100 || NR > 40 {exit 1}' said
done
"$TURNPIKE" >said 2>err
check 'no command: exit status 2' test $? -eq 2
if [[ -e /dev/full ]]; then
    "$TURNPIKE" patch mesa --patches "$TP_SRC/patches" --target host --json - >/dev/full 2>err
    check 'a full standard output is told' grep -q 'cannot be written' err
fi
tap_close
