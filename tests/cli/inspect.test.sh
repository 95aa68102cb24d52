#!/bin/bash
# turnpike inspect, as a person and as a script see it; and within its bounds on hostile files.
# timeout: 200
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
tool=$(build_folder)/tests/factory/inspect/archive_tool
if [[ ! -x $tool ]]; then
    echo 'archive_tool has not been built'
    exit 1
fi
cd "$TP_TMP" || exit 2
"$tool" make . || exit 1
linux=WN-Linux-Turnip-25.0.7-b_Axxx.zip

inspect() { # status that is expected, arguments…
    local want=$1 status=0
    shift
    "$TURNPIKE" inspect "$@" >said 2>err </dev/null || status=$?
    check "turnpike inspect $*: exit status $want" test "$status" -eq "$want"
}
importer() { # importer → its row
    jq -c --arg n "$1" '.importers[]|select(.name == $n)' said
}

for file in android.zip qualcomm.zip "$linux"; do
    inspect 0 "$file"
    check "$file: the verdict is the first line" grep -qx "$file: good: .* takes it" <(head -n 1 said)
    inspect 0 --importer all --json - "$file"
    check "$file: the fields of the contract" json_holds \
        '.turnpike and .schema == 1 and .file and .ok == true and .kind and (.findings == []) and
         (.importers|length > 0) and all(.importers[]; .name and .accepts == true and .why) and
         (.patches|type == "array") and (.min_api|type == "number")' said
    check "$file: nothing on standard error" test ! -s err
done
check 'Linux: WinNative alone is asked' test "$(jq -c '[.importers[].name]' said)" = '["winnative"]'
check 'Linux: the kind' test "$(jq -r .kind said)" = linux
check 'Linux: the patches of its note' json_holds '.patches == ["driver-label"]' said
check 'Linux: the glibc that it needs' json_holds '.glibc == "2.34" and .min_api == 0' said
check 'the pages that it loads with' json_holds '.page_bytes == 65536 and .relr == false and .tls == false' said
inspect 0 "$linux"
check 'and in words' grep -qx '  loads with pages up to 64 KiB' said
check 'one patch is one' grep -qx '  built by turnpike with 1 patch' said

inspect 1 --importer gamenative --json - "$linux"
check 'GameNative imports it in vain' test "$(importer gamenative | jq -r '"\(.accepts) \(.outcome)"')" = \
    'false system-driver'
inspect 1 --json - unknown-key.zip
check 'an unknown key: one finding' json_holds \
    '.ok == false and ([.findings[].id] == ["meta-key-unknown"]) and .findings[0].severity == "error"
     and .findings[0].where == "meta.json" and (.findings[0]|.text and .fix)' said
check 'Strato refuses it' test "$(importer strato | jq .accepts)" = false
check 'WinNative takes it' test "$(importer winnative | jq .accepts)" = true
inspect 0 --importer Eden --api 29 android.zip
inspect 1 --importer eden --api 28 --json - android.zip
check 'a phone that is too old' test "$(importer yuzu | jq -r .why)" = \
    'asks for API 29, and the phone has 28 (Android 9)'
inspect 1 bomb.zip
check 'a bomb is named' grep -q 'error zip-bomb' said
inspect 1 --json - many.zip
check 'of one name eight are listed, and the others counted' json_holds '([.findings[]|select(.id == "elf-header")]|length) == 8 and .more["elf-header"] == 24' said
inspect 1 path.zip
check 'no control character reaches the terminal' test -z "$(grep -a $'\33' said)"
check 'each finding says what to do' test "$(grep -c 'what to do:' said)" -ge "$(grep -cE '^  (error|warning|note) ' said)"
inspect 1 forged.zip
check 'a name makes no line of its own' test -z "$(grep '^  gamenative   yes' said)"
inspect 1 --json - host.zip
check 'what no app takes is not good' json_holds '.ok == false and ([.importers[].accepts]|any|not) and
    ([.findings[]|select(.severity == "error")] == [])' said
inspect 1 host.zip
check 'and the verdict says so' grep -q '^host.zip: of no use to any app: not taken by 12 of 12' said
inspect 1 --json - unread.zip
check 'what is not looked into is not good' json_holds '.ok == false and ([.importers[].outcome]|unique) == ["not-known"]' said
inspect 1 unread.zip
check 'and the verdict says so, too' grep -q '^unread.zip: not looked into.*: not known of 12 of 12' said
cp android.zip ./-dash.zip
inspect 2 -dash.zip
check 'a file that looks like an option' grep -qF "no option '-dash.zip'; a file of that name is ./-dash.zip" err
inspect 1 --json - cut.zip
check 'a file that is cut off: one finding' json_holds '[.findings[].id] == ["zip-truncated"]' said
inspect 0 --json - libvulkan_freedreno.so
check 'a library alone' json_holds '.kind == "driver" and [.findings[].id] == ["kind-bare"]' said

inspect 1 --json - android.zip cut.zip
check 'several files' json_holds '(.files|length) == 2 and .files[0].ok and (.files[1].ok|not)' said
inspect 2 --json - android.zip nowhere.zip
check 'a file that is not there is told, the other inspected' json_holds '(.files|length) == 1' said
check 'it is named' grep -q 'nowhere.zip: ' err
inspect 2 .
inspect 2
inspect 2 --importer no-such-app android.zip
check 'the importers are listed' grep -q 'adrenotools, gamenative, winlator' err
inspect 2 --api Q android.zip
inspect 2 --api 99 android.zip
check 'the levels are named' grep -q '21 to 36' err
inspect 2 --json android.zip android.zip
check 'an archive is not written over' unzip -tqq android.zip
inspect 0 --json report.json android.zip
check 'the report beside the text' json_holds .ok report.json
head -c 2000 /dev/zero >zeros.zip
inspect 1 zeros.zip
check 'no zip at all' grep -q 'kind-unknown' said
cp android.zip $'\u202egpj.zip'
inspect 0 $'\u202egpj.zip'
check 'no name turns the direction of a line' test -z "$(grep -aF $'\u202e' said)"
inspect 2 /proc/self/mem
check 'a file that cannot be read: what to do' grep -q 'what to do' err
inspect 2 /dev/zero
if [[ -e /dev/full ]]; then
    "$TURNPIKE" inspect android.zip >/dev/full 2>err
    check 'a full standard output: exit status 1' test $? -eq 1
fi
check 'colours on a terminal' grep -q $'\33\\[1;32mgood' <(TERM=xterm script -qec "'$TURNPIKE' inspect android.zip" /dev/null)
check 'none where NO_COLOR is set' test -z "$(NO_COLOR=1 TERM=xterm script -qec "'$TURNPIKE' inspect android.zip" /dev/null | grep -a $'\33')"

truncate -s 97M large.zip
truncate -s 300M larger.zip
inspect 1 --json - large.zip
check 'nothing is known of it' json_holds '([.importers[].outcome]|unique) == ["not-known"]' said
check 'a file that is too large' json_holds '.kind == "too-large" and [.findings[].id] == ["file-too-large"]' said
for file in bomb.zip many.zip long-names.zip overlap.zip largest.zip libraries.zip large.zip larger.zip; do
    check "$file: 5 s and 256 MiB at most" "$tool" measure 5 256 "$TURNPIKE" inspect --json report.json "$file"
done

# Cut off at every 97th byte, and at each of the last two hundred.
size=$(stat -c %s "$linux")
bad=0
for ((n = 1; n < size; n += (n < size - 200 ? 97 : 1))); do
    head -c "$n" "$linux" >part.zip
    "$TURNPIKE" inspect --json report.json part.zip >said 2>err
    [[ $? -eq 1 ]] && jq -e '[.findings[]|select(.severity == "error")]|length == 1' report.json >/dev/null || bad=$((bad + 1))
done
check 'cut off anywhere: exit status 1 and one error' test "$bad" -eq 0
tap_close
