#!/bin/bash
# report: planted causes are named; its numbers are simulate's; the page works in a browser.
# timeout: 600
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
here=$TP_SRC/tests/report
cd "$TP_TMP" || exit 2

simulate() { # name, options…
    local name=$1
    shift
    "$TURNPIKE" simulate --capture "$name.cap" --json "$name.sim.json" "$@" >/dev/null 2>&1
}
report() { # name
    "$TURNPIKE" report "$1.cap" --json "$1.json" >"$1.txt" 2>"$1.err"
}

simulate healthy --cost 9000 --frames 3000
simulate lost --cost 9000 --frames 3000 --faults lost-note:200
simulate late --cost 9000 --frames 3000 --faults late-fence:200:2
simulate beats --cost 8000 --frames 3000 --cap 40
simulate torn --cost 8000 --frames 2000 --images 2 --release-fence off --gate cap --cap 60
simulate vrr --cost 8000 --frames 2000 --guest late:2 --refresh 48-120 --gate cap --cap 57
simulate all --cost 9000 --frames 3000 --faults all:2
simulate large --cost 9000,12000,7000 --frames 100000 --faults late-fence:20:2,clock-jitter:200

# Whatever simulate says, report says of its capture.
same_numbers() { # name
    jq -e --slurpfile r "$1.json" 'del(.seed, .broken, .story) | to_entries | all(.value == $r[0][.key])' \
        "$1.sim.json" >/dev/null
}
for name in healthy lost late beats torn vrr all large; do
    report "$name"
    check "$name: exit status 0" test $? -eq 0
    check "$name: report's numbers are simulate's" same_numbers "$name"
    check "$name: the first line on standard output is the verdict" \
        test "$(head -n 1 "$name.txt")" = "$(jq -r .verdict "$name.json")"
    check "$name: which is the page's head" grep -qF "<h1>$(jq -r .verdict "$name.json")</h1>" "$name.html"
    check "$name: nothing on standard error" test ! -s "$name.err"
done
finds() { # name, ids
    test "$(jq -r '[.findings[].id] | join(" ")' "$1.json")" = "$2"
}
check 'a healthy run has no findings' finds healthy ''
check 'lost notes are named' finds lost notes-lost
check 'late fences are named' finds late late-fences
check 'a cap that beats is named' finds beats cap-beats
check 'tears without fences are named' finds torn tears-fences-off
check 'all faults at once have findings' json_holds '.findings | length > 2' all.json

# Where it goes.
"$TURNPIKE" report healthy.cap -o other.html --json - >said 2>err
check 'with --json -, standard output has the JSON alone' json_holds '.frames == 3000' said
check 'the page is where -o says' cmp -s other.html healthy.html
check 'the same capture makes the same page' test -s other.html
"$TURNPIKE" report healthy.cap -o none/x.html >said 2>err
check 'a folder that is not there: status 2' test $? -eq 2
check 'and is named' grep -q none/x.html err
"$TURNPIKE" report none.cap >said 2>err
check 'a capture that is not there: status 2' test $? -eq 2
check 'and no page is left' test ! -e none.html
cp healthy.html old.html
printf 'no capture' >bad.cap
cp healthy.html bad.html
"$TURNPIKE" report bad.cap >said 2>err
check 'what is no capture: status 2' test $? -eq 2
check 'leaves the old page' cmp -s bad.html healthy.html
"$TURNPIKE" report /dev/null -o none.html >said 2>err
check 'an empty file is no capture: status 2' test $? -eq 2
check 'and is called empty' grep -q 'this is no capture: it is empty' err
if [[ -e /dev/full ]]; then
    "$TURNPIKE" report healthy.cap -o other.html >/dev/full 2>err
    check 'a full standard output: status 1' test $? -eq 1
fi
(ulimit -f 16 && trap '' XFSZ && "$TURNPIKE" report healthy.cap -o small.html >said 2>err)
check 'a page that does not fit: status 1' test $? -eq 1
check 'leaves nothing' test -z "$(find . -name '*small.html*')"
"$TURNPIKE" report - <healthy.cap >said 2>err
check 'a dash is a name like others' test $? -eq 2
"$TURNPIKE" report <(cat healthy.cap) -o piped.html --json piped.json >said 2>err
check 'a pipe is read' test $? -eq 0
check 'and says the same' cmp -s piped.json healthy.json

# A game whose process is stopped: at the end, and for a while in the midst.
play_and_stop() { # name, seconds after which it goes on
    local play game i
    "$TURNPIKE" play --size 320x240 --seconds 6 --capture "$1.cap" -- \
        bash -c 'echo $$ >game.pid; exec "$0" 100000' "$(build_folder)/tests/frames/clients/direct" \
        >play.out 2>&1 </dev/null &
    play=$!
    for ((i = 0; i < 100; i++)); do [[ -s game.pid ]] && break || sleep 0.05; done
    game=$(<game.pid)
    rm game.pid
    sleep 2
    kill -STOP "$game"
    sleep "$2"
    kill -CONT "$game" 2>/dev/null
    wait "$play"
    report "$1"
}
play_and_stop hung 10
check 'a game that hangs is no healthy one' finds hung stands-still
check 'and is told for how long' grep -qE '^No new frame for the last [34]\.[0-9] s: ' hung.txt
play_and_stop stopped 2
check 'one that was stopped for a while is told' json_holds '[.findings[].id] | index("stood-still")' stopped.json
check 'with how long' grep -qE '^The game stood still for [12]\.[0-9] s: ' stopped.txt
check 'that is not the gate' json_holds '.acquire_wait_ms.gate < 17' stopped.json
check 'and is among the events' grep -qE '^  0:0[0-9]\.[0-9]{3}  Shown late: before frame [0-9]+ the older picture' stopped.txt

# Too little to say anything.
simulate few --cost 9000 --frames 5
report few
check 'a few frames are not judged' test "$(head -n 1 few.txt)" = 'Too short to judge: 5 frames on 60 Hz, no tear.'

# Cut and damaged.
head -c 100000 healthy.cap >cut.cap
report cut
check 'a capture that was cut: status 0' test $? -eq 0
check 'standard error says so' grep -q 'note: The capture was cut' cut.err
check 'and the page' grep -q 'The capture was cut' cut.html
check 'and the JSON' json_holds '.capture.whole == false and .frames > 1000' cut.json
cp healthy.cap damaged.cap
printf x | dd of=damaged.cap bs=1 seek=50000 conv=notrunc status=none
report damaged
check 'damage is told' grep -q '1 block of the capture is damaged' damaged.err

# Memory does not grow with the capture.
memory_of() { # name
    (
        ulimit -v 400000
        "$TURNPIKE" report "$1.cap" -o memory.html >/dev/null 2>&1
    )
}
check '100000 frames in 400 MB of addresses' memory_of large

# The browser. Names that would act, and two guests: made by a program of the tests.
"$(build_folder)/tests/report/report_captures" hostile.cap guests.cap extremes.cap still.cap
report hostile
report guests
report extremes
check 'instants at the ends of time make a page' test $? -eq 0
check 'each guest is in the JSON' json_holds '[.guests[].name] == ["one game", "another game"]' guests.json
if command -v tidy >/dev/null; then
    for name in healthy all torn hostile guests extremes cut; do
        tidy -quiet -errors --drop-empty-elements no --mute-id yes "$name.html" >/dev/null 2>tidy.err
        check "$name.html is valid HTML" test ! -s tidy.err
        head -n 3 tidy.err >&2
    done
else
    check 'tidy is here: ./setup brings it' false
fi
for browser in chromium google-chrome chromium-browser ''; do
    [[ -z $browser ]] || ! command -v "$browser" >/dev/null || break
done
if [[ -n $browser ]] && command -v node >/dev/null; then
    CHROMIUM=$browser HOME=$TP_TMP node "$here/report_page.js" . profile >seen 2>seen.err
    while read -r status name; do
        case $status in
        ok) tap 0 "$name" ;;
        no) tap 1 "$name" ;;
        *) printf '# %s\n' "$name" ;;
        esac
    done <seen
    check 'the browser was used' test "$(wc -l <seen)" -gt 60
    head -n 20 seen.err >&2
else
    check 'a browser and node are here: ./setup brings them' false
fi
tap_close
