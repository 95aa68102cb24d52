#!/bin/bash
# simulate as a command: it ends when it is told to, and what it cannot do it says before it runs.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2

# So many frames take an hour: nothing of this may run to its end.
long=(simulate --frames 1000000000)

interrupted() { # name of a signal, status
    timeout --signal="$1" --kill-after=60 0.5 "$TURNPIKE" "${long[@]}" --json j --chart c.svg \
        --capture frames.cap >said 2>err
    check "SIG$1: it ends so" test $? -eq "$2"
    check "SIG$1: and says why" grep -q interrupted err
    check "SIG$1: no result is said" test ! -s said
    check "SIG$1: nor half written" test ! -e j -a ! -e c.svg
    check "SIG$1: what was recorded is a capture" test "$(head -c 5 frames.cap)" = TPCAP
    check "SIG$1: nothing else is left" test "$(find . -name '.tp-*' | wc -l)" -eq 0
    rm -f frames.cap
}
# timeout says 124, whatever the program ended with.
interrupted INT 124
interrupted TERM 124
"$TURNPIKE" "${long[@]}" >said 2>err &
job=$!
sleep 0.3
kill -TERM "$job"
wait "$job" 2>/dev/null
check 'it ends by the signal' test $? -eq 143

refused() { # words, options…
    local words=$1
    shift
    timeout --kill-after=1 20 "$TURNPIKE" "${long[@]}" "$@" >said 2>err
    check "$words: status 2, before it runs" test $? -eq 2
    check "$words: said" grep -qe "$words" err
}
refused none/x --json none/x
refused none/y --chart none/y
refused none/z --capture none/z
mkdir -p there
refused there --json there
refused 'files of their own' --json x --chart x
refused 'files of their own' --json x --capture ./x
refused 'files of their own' --chart there/x --capture there/../there/x
ln -sf x link
touch x
refused 'files of their own' --chart link --capture x
echo 8000 >costs
refused 'files of their own' --trace costs --json costs
check 'and the trace is still there' grep -qx 8000 costs
refused "only --json has '-'" --chart -
refused "only --json has '-'" --capture -
refused 'part of a --chart' --chart-from 20
refused 'NAME:PER_MILLE' --faults late-fence:1:0
refused 'NAME:PER_MILLE' --faults late-fence:1:17
refused '0 to 9223372036854775807' --seed 9223372036854775808

for cap in 0 0.0001 1e1 30.00001 10001 -1; do
    refused 'cap is 0.001 to 10000 frames a second, up to three places' --cap "$cap"
done
refused 'latch is 1650 us, and a refresh of 1000.000 Hz 1000 us' --refresh 1000
refused 'latch is 0 to 1000000 us' --latch 1000001
refused 'callback is 0 to 1000000 us' --callback x
refused 'of 0 to 1000' --faults dvfs:1001
yes 8000 | head -n 16777217 >long.txt
refused 'up to 16777216 frames' --trace long.txt
rm long.txt
refused 'takes for never' --refresh 1
refused 'takes for never' --callback 1000000
for odd in '--gate off --images 32' '--images 2 --compositor-us 40000' '--callback 60000' '--compose 2000:2' '--cap 0.05' \
    '--refresh 90 --cap 110 --cost 300'; do
    # shellcheck disable=SC2086
    "$TURNPIKE" simulate --frames 1000 $odd >said 2>err
    check "$odd: nothing breaks" test $? -eq 0
done

timeout 20 "$TURNPIKE" simulate --faults compositor-crash:1000,server-crash:1000 --frames 5 --cost 50000 >said 2>err
check 'faults that let nothing through: status 2' test $? -eq 2
check 'it says so' grep -q 'the faults asked for let too little through: 0 frames in' err
"$TURNPIKE" simulate --frames 1 >said 2>err
check 'of the frames that are left out no latency is said' \
    test "$(grep -c 'left out' said)/$(grep -c 'first line\|waits' said)" = 1/0
"$TURNPIKE" simulate --frames 40 --cost 1000000 --capture long.cap >said 2>err
check 'frames that stay long' grep -q 'stayed for 16 or more: 30;' said
"$TURNPIKE" report long.cap -o long.html >said 2>err
check 'report says the same of them' grep -q 'stayed for 16 or more: 30' said
check 'and so does its page' grep -q '16 or more: ' long.html
"$TURNPIKE" simulate --frames 100 --seed 9223372036854775807 --json - >said 2>err
check 'the greatest seed' json_holds '.seed == 9223372036854775807' said
"$TURNPIKE" simulate --frames 1000 --faults all:1000 >said 2>err
check 'where nothing is shown, no share of it is said' \
    test "$(grep -c '^0 frames in\|nothing was shown' said)/$(grep -c 'on their refresh' said)" = 2/0
printf '8000 # a comment\n9000\t\n  7000  \n\t# alone\n\n6000#\r\n' >costs
"$TURNPIKE" simulate --trace costs --frames 100 >said 2>err
check 'a trace may have comments, blanks and tabs' test $? -eq 0
printf '8000\n80 00\n' >costs
"$TURNPIKE" simulate --trace costs --frames 100 >said 2>err
check 'but one number a line' grep -q 'costs:2' err

tap_close
