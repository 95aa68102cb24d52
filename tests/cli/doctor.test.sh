#!/bin/bash
# turnpike doctor, as a person and as a script see it: logs of every kind, what they come to, and in
# which order; captures; its rules against the words that turnpike itself writes.
#
#     tests/cli/doctor.test.sh --write     renews the table of docs/doctor.md
set -uo pipefail
src=${TP_SRC-$(cd "$(dirname "$0")/../.." && pwd)}
. "$src/tests/scripts/tables.sh"
tool=$(dirname "${TURNPIKE-$src/build/turnpike}")/tests/report/doctor/doctor_tool
if [[ ! -x $tool ]]; then
    echo 'doctor_tool has not been built'
    exit 1
fi
if [[ ${1-} == --write ]]; then
    table_write "$src/docs/doctor.md" doctor "$tool" table
    exit
fi
. "$src/tests/scripts/mesa.sh"
check 'docs/doctor.md: the table is up to date (else: doctor.test.sh --write)' \
    table_is_fresh "$src/docs/doctor.md" doctor "$tool" table
cd "$TP_TMP" || exit 2

doctor() { # status that is expected, arguments…; standard input goes on
    local want=$1 status=0
    shift
    "$TURNPIKE" doctor "$@" >said 2>err || status=$?
    check "doctor $*: exit status $want" test "$status" -eq "$want"
}
ids() { # of what was said as JSON, in order
    jq -r '[.findings[].id] | join(" ")' said
}
are() { # name, ids
    check "$1" test "$(ids)" = "$2"
}

line() { # process, level, tag, message
    printf '11-30 12:00:02.600 %5d  4300 %s %-8s: %s\n' "$@"
}
noise() { # lines
    local i
    for ((i = 0; i < $1; i++)); do
        line $((1000 + i)) D chatty "uid=10149(com.other) identical $i lines"
    done
}
driver=/data/user/0/com.winlator/files/drivers/WN/libvulkan_freedreno.so

# --- a driver that does not load ---
{
    echo '--------- beginning of main'
    noise 50
    line 1500 I ActivityManager 'Start proc 4242:com.winlator/u0a321 for top-activity {x}'
    line 2000 I AdrenoVK-0 'Driver Path             : /vendor/lib64/hw/vulkan.adreno.so'
    line 4242 I hook_impl "hook_android_dlopen_ext: loading custom driver: $driver"
    line 4242 E linker "\"$driver\" program alignment (4096) cannot be smaller than system page size (16384)"
    line 4242 I hook_impl 'hook_android_dlopen_ext: hook failed: failed to load custom driver: (null)!'
    line 4242 I hook_impl 'hook_android_dlopen_ext: falling back!'
    line 4242 I AdrenoVK-0 'Driver Path             : /vendor/lib64/hw/vulkan.adreno.so'
    noise 50
} >fallback.log
doctor 1 fallback.log
check 'the verdict is the first line' grep -qx \
    'fallback.log: the custom driver was not loaded; the phone.s own runs in its place, and 1 more error' <(head -n 1 said)
check 'the line is quoted with its number' grep -q "line 56 and 1 more: 11-30 12:00:02.600  4242 .* hook failed" said
check 'the process is named' grep -q 'com.winlator (process 4242)' said
check 'each error says what to do' test "$(grep -c 'what to do:' said)" -eq 2
check 'no line of a terminal is broken' test "$(grep -v ' line ' said | wc -L)" -le 100
doctor 1 --json - fallback.log
are 'the fall-back, then its cause' 'driver-fallback page-size'
check 'the fields of the contract' json_holds \
    '.turnpike and .schema == 1 and .verdict and (.findings|length == 2) and
     all(.findings[]; .id and .severity == "error" and (.line|type == "number") and .text and .fix and .quote)' said
check 'nothing on standard error' test ! -s err
doctor 1 --json out.json fallback.log
check '--json FILE: for a person as well' test -s said -a -s out.json

# --- a healthy log, in every way to hand it over ---
{
    noise 20
    line 4242 I hook_impl "hook_android_dlopen_ext: loading custom driver: $driver"
    line 4242 I MESA 'Using IMapper v5 stable-C API via SP-HAL'
    line 4242 I Emu 'GPU: turnip Mesa driver, Mesa 25.0.7 (WN-25.0.7-b)'
    line 4242 I MESA 'aimapper: compressed layout detected via COMPRESSION, collapsing to 1 compressed plane'
    echo 'turnpike: images are dma-bufs of the driver (in a layout of its own)'
} >healthy.log
healthy='driver-turnpike driver-custom mapper-5 mapper-ubwc images-kind'
doctor 0 --json - healthy.log
are 'a healthy log has notes alone' "$healthy"
check 'and names the driver' json_holds '.verdict | test("nothing wrong.*WN-25.0.7-b of Mesa 25.0.7")' said
doctor 0 --json - <healthy.log
are 'standard input' "$healthy"
doctor 0 --json - - < <(cat healthy.log)
are 'a pipe, by -' "$healthy"
gzip -k healthy.log
doctor 0 --json - healthy.log.gz
are 'gzip' "$healthy"
sed 's/$/\r/' healthy.log >crlf.log
doctor 0 --json - crlf.log
are "another line's end" "$healthy"
check 'which no quote has' json_holds '[.findings[].quote | contains("\\x0d")] | any | not' said
iconv -t UTF-16 healthy.log >utf16.log
doctor 0 --json - utf16.log
are 'UTF-16' "$healthy"
head -c 200 /dev/urandom | cat - <(printf '\0\n') healthy.log >partial.log
doctor 0 --json - partial.log
are 'behind bytes of any kind' "$healthy"
cat fallback.log fallback.log | gzip | head -c -20 >cut.log.gz
doctor 1 cut.log.gz
check 'gzip that is cut off: it is told' grep -q 'cut off or damaged' err

# --- a log that never ends: it is interrupted, and told all the same ---
mkfifo pipe
"$TURNPIKE" doctor --json - <pipe >said 2>err &
job=$!
exec 9>pipe
cat healthy.log >&9
for _ in {1..50}; do # until it has read all of it, and waits
    grep -q '^State:.*sleeping' "/proc/$job/status" && break
    sleep 0.1
done
kill -INT "$job"
wait "$job"
check 'an interrupted pipe: it ends by the signal' test $? -eq 130
exec 9>&-
are 'and says what came until then' "$healthy"

# --- nor is a line that never ends a reason to go on ---
timeless() { # signal, name, arguments…; standard input goes on: it must end by the signal
    local status=0
    timeout -s "$1" -k 60 1 "$TURNPIKE" doctor "${@:3}" >said 2>err || status=$?
    check "$2: it ends by SIG$1" test "$status" -eq 124
}
empty=$(: | gzip | base64 -w 0)
packed() { # members of gzip without a byte in them, for ever
    yes "$empty" | head -n 500000 | base64 -d >empty.gz # large, so that no read has to wait
    while cat empty.gz; do :; done 2>&-
}
timeless TERM 'an endless line' </dev/zero
timeless INT 'an endless line, Ctrl-C' </dev/zero
timeless TERM 'an endless line of a file' /dev/zero
check 'which says so' grep -q 'interrupted' err
timeless TERM 'an endless line behind a whole log' < <(cat healthy.log /dev/zero)
check 'and says what came until then' grep -q 'nothing wrong.*WN-25.0.7-b' said
timeless TERM 'endless UTF-16' < <(printf '\377\376'; cat /dev/zero)
timeless TERM 'an endless packed line' < <(gzip -1 </dev/zero)
timeless TERM 'packed bytes of which none comes out' < <(packed)
timeless TERM 'endless lines' < <(yes)

# --- half of a fix; kinds of refusals; the road's order ---
{
    line 1 E BLASTBufferQueue '[x](f:0,a:0) rejecting buffer:active_size=1x1, requested_size=1x1 buffer{size=2x2 transform=0}'
    echo 'turnpike: the panel holds an image longer than it may; waiting on (release_timeouts)'
    echo '<3>[ 5123.500912] kgsl kgsl-3d0: com.winlator[4242]: gpu fault ctx 12 ctx_type VK ts 3001 status 00800005'
    line 4242 I MESA 'Using IMapper v5 stable-C API via SP-HAL'
    for _ in {1..448}; do line 4242 E MESA 'Failed to get u_gralloc_buffer_basic_info'; done
    line 4242 W TU 'KGSL refuses the power constraint: Invalid argument'
} >sick.log
doctor 1 --json - sick.log
are 'all of it, in the order of the road' \
    'mapper-5 mapper-ubwc-never import-failed gpu-fault power-refused buffer-rejected release-timeout'
check '448 failures are one finding' json_holds '.findings[] | select(.id == "import-failed") | .count == 448' said
check 'a fault is of the process that the kernel names' json_holds '.findings[] | select(.id == "gpu-fault") | .pid == 4242' said
doctor 1 --json - <<<'turnpike: the panel holds an image longer than it may; waiting on (release_timeouts)'
are 'one release time-out is flagged' release-timeout
doctor 1 --json - < <(noise 30)
are 'nothing of ours is an error of its own' nothing-here
check 'and says how to record a log' json_holds '.findings[0].fix | contains("adb logcat -b all")' said

# --- a silent fall-back; what is other apps' ---
{
    line 4242 I hook_impl "hook_android_dlopen_ext: loading custom driver: $driver"
    line 4242 I AdrenoVK-0 'QUALCOMM build          : 8e5405b, I57aaec3440'
    line 4242 I AdrenoVK-0 'Build Date              : 05/11/21'
} >silent.log
doctor 0 --json - silent.log
are 'a silent fall-back is no sign of health' 'driver-custom driver-stock-after-custom'
{
    cat healthy.log
    app=/data/app/com.other/lib/arm64
    line 900 E GraphicBufferAllocator 'Failed to allocate (4 x 4) layerCount 1 format 59 usage b00: 5'
    line 901 F DEBUG '      #01 pc 00000000004c1a30  /vendor/lib64/hw/vulkan.adreno.so (BuildId: 0102)'
    line 902 E linker "cannot locate symbol \"f\" referenced by \"$app/libvulkanrenderer.so\"..."
    line 902 E linker "\"$app/libmyvulkan.so\" is 32-bit instead of 64-bit"
    line 902 E linker "library \"$app/libvulkan_debug.so\" needed or dlopened by \"x\" is not accessible for the namespace \"y\""
    line 903 I other 'supported errors: VK_ERROR_DEVICE_LOST=-4, VK_ERROR_OUT_OF_DEVICE_MEMORY=-2'
    line 903 I other 'Available drivers: turnip Mesa driver 25, Qualcomm'
    echo '<3>[ 5130.000000] kgsl kgsl-3d0: com.other[904]: gpu timeout ctx 12 ts 3001'
} >others.log
doctor 0 others.log
check "other apps' lines are no errors of the driver" test "$(grep -c '^  error' said)" -eq 0
check 'and nobody is sent to the other variant for them' test "$(grep -c 'other variant' said)" -eq 0
check 'whose hang it was is told' grep -q 'the GPU hung with work of process 904' said
doctor 0 --help
check '--help: warnings do not fail' grep -q '0 no error is found (warnings and notes may be)' said

# --- captures: what was planted is named ---
simulated() { # simulate's arguments…
    "$TURNPIKE" simulate --capture run.cap "$@" >/dev/null
    doctor 0 --json - run.cap
}
planted() { # finding, simulate's arguments…
    simulated "${@:2}"
    check "a capture of simulate ${*:2}: $1" json_holds "[.findings[].id] | index(\"$1\") != null" said
    check "and its severity is no note" json_holds ".findings[] | select(.id == \"$1\") | .severity != \"note\"" said
}
simulated --frames 600
check 'a capture of a healthy run has notes at most' json_holds 'all(.findings[]; .severity == "note")' said
check 'and is called so' json_holds '.verdict | startswith("Healthy")' said
planted late-fences --faults late-fence:20 --frames 3000
planted notes-lost --faults lost-note:20 --frames 3000
planted cap-beats --gate cap --cap 45 --frames 1200
as_report() { # capture, status
    "$TURNPIKE" report "$1" --json - -o page.html >reported 2>/dev/null
    doctor "$2" --json - "$1"
    check "$1: the findings and the verdict are report's" test \
        "$(jq -c '.verdict, [.findings[] | [.id, .severity, .text]]' said)" = \
        "$(jq -c '.verdict, [.findings[] | [.id, .severity, .text]]' reported)"
}
as_report run.cap 0
"$(dirname "$tool")/../report_captures" marked.cap games.cap extremes.cap still.cap
as_report games.cap 0
as_report still.cap 0
check 'of a picture that stands still, too' json_holds '[.findings[].id] | index("stands-still") != null' said
head -c 5000 run.cap >cut.cap
doctor 0 cut.cap
check 'a capture that is cut off: it is told' grep -q 'cut off or damaged' err
doctor 2 <run.cap
check 'a capture on standard input: give its name' grep -q 'read from a file only' err

# --- what real programs print through turnpike's ICD ---
icd=$(build_folder)/src/frames/icd/uninstalled.json
ask_icd() { # driver
    rm -f icd.log
    VK_DRIVER_FILES=$icd TURNPIKE_DRIVER=$1 TURNPIKE_LOG=$PWD/icd.log vulkaninfo --summary >game.log 2>&1 </dev/null
    cat icd.log game.log >both.log 2>/dev/null
}
ask_icd "$PWD/fallback.log"
doctor 1 --json - both.log
are 'a driver that is none: the ICD says it' icd-driver-failed
ask_icd "$(find /usr/share/vulkan/icd.d -name 'lvp*' | head -n 1)"
doctor 1 --json - both.log
are 'a driver that draws with the processor' driver-software

# --- hostile logs ---
printf '11-30 12:00:02.600  4242  4300 I hook_impl: hook_android_dlopen_ext: loading default driver: \033]0;pwned\007\033[2Jx\n' >evil.log
doctor 0 evil.log
check 'no control character reaches the terminal' test -z "$(tr -d '\n' <said | LC_ALL=C grep -a '[[:cntrl:]]')"
check 'what was there is shown' grep -qF '\x1b]0;pwned\x07' said
{
    head -c 100000000 /dev/zero | tr '\0' x
    echo
    cat fallback.log
} >long.log
doctor 1 --json - long.log
are 'behind a line of 100 MB' 'driver-fallback page-size'
check 'which is told' grep -q 'first 64 KiB' err
(
    # A sanitizer's shadow alone is larger.
    ! (ulimit -v 200000 && "$TURNPIKE" --version >/dev/null 2>&1) || ulimit -v 200000
    yes "$(line 4242 E MESA 'Failed to get u_gralloc_buffer_basic_info')" | head -n 3000000 | "$TURNPIKE" doctor --json - >said 2>err
)
check '250 MB of findings in bounded memory' test "$(jq '.findings[0].count' said)" = 3000000

# --- what is refused ---
refused() { # status, words, arguments…
    local words=$2
    doctor "$1" "${@:3}" </dev/null
    check "doctor ${*:3}: says '$words'" grep -qF -- "$words" err
    check "doctor ${*:3}: says what to do" grep -q 'what to do: ' err
    check "doctor ${*:3}: nothing on standard output" test ! -s said
}
refused 2 'the log is empty'
refused 2 'one log at a time' fallback.log healthy.log
refused 2 'cannot be opened' nowhere.log
refused 2 'is a folder' .
refused 2 'write over the log' --json fallback.log fallback.log
refused 2 'argument is empty' ''
check 'the log is as it was' test "$(wc -l <fallback.log)" -eq 108

# --- turnpike's own words are those that the rules look for ---
joined() { # files: with literals in one piece, so that a sentence over two lines is one
    cat "$@" | tr -d '\n' | sed -E 's/"[[:space:]]*"//g'
}
missing=0 looked=0
while IFS=$'\t' read -r id source piece; do
    [[ $source == ours:* ]] || continue
    files=() folder=
    for file in ${source#ours:}; do
        file=${file%,}
        [[ $file != */* ]] || folder=${file%/*}
        [[ $file == */* ]] || file=$folder/$file
        [[ ! -f $src/$file ]] || files+=("$src/$file")
    done
    [[ ${#files[@]} -gt 0 ]] || { echo "$id: $source: no such file"; missing=1; continue; }
    text=$(joined "${files[@]}")
    # What a sentence is about and why are literals of their own.
    while IFS= read -r part; do
        part=${part# }
        [[ ${#part} -ge 5 && $part != turnpike ]] || continue
        looked=$((looked + 1))
        [[ $text == *"$part"* ]] || { echo "$id: '$part' is not in $source"; missing=1; }
    done <<<"${piece//: /$'\n'}"
done < <("$tool" words)
check "each of $looked phrases stands in the source that is named" test "$missing" -eq 0 -a "$looked" -gt 40

# --- and no line of turnpike's own is unknown to them ---
spoken() { # a function's call up to its text, files: each text, as it might come out
    joined "${@:2}" | grep -oE "$1\"[^\"]+\"" | sed -E "s/^[^\"]*\"//; s/\"$//; s/%[.0-9*]*l*[sx]/x1/g; s/%[l]*[ud]/1/g"
}
unknown=0 known=0
knows() { # line
    "$TURNPIKE" doctor --json - <<<"$1" >said 2>err
    known=$((known + 1))
    [[ $(ids) != nothing-here && -n $(ids) ]] || { echo "not known: $1"; unknown=1; }
}
while IFS= read -r text; do
    knows "turnpike: $text"
done < <(spoken 'tp_icd_log(_once)?\([[:space:]]*' "$src"/src/frames/icd/*.c | grep -v '^x1x1')
while IFS= read -r text; do
    knows "$text"
done < <(spoken 'tp_server_log\([[:space:]]*s,[[:space:]]*' "$src"/src/frames/server/*.c | grep -v ': x1$')
while IFS= read -r text; do
    knows "client 4242 (uid 1000): dropped: $text"
done < <(spoken 'tp_connection_drop\(s, [a-z]+,[[:space:]]*' "$src"/src/frames/server/*.c)
check "each of $known lines that turnpike logs is known" test "$unknown" -eq 0 -a "$known" -gt 30

tap_close
