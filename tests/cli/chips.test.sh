#!/bin/bash
# The table of GPUs: of real Mesa 25.0.7 before and after the patch set, and of a fixture with A8xx.
# Expected values are read from freedreno_devices.py by eye.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
pristine=$(mesa_pristine) || exit
mesa_parts "$pristine" "$TP_TMP/mesa"
cd "$TP_TMP" || exit 2

chip() { # name → its object
    jq -c --arg n "$1" '.chips[]|select(.name == $n)' got.json
}
"$TURNPIKE" chips mesa --json - >got.json 2>notes
check 'a tree: exit status 0' test $? -eq 0
check 'the fields of the contract' json_holds \
    '.mesa_version == "25.0.7" and all(.chips[]; .name and (.chip_ids|length > 0) and .generation and (.quirks|type == "array"))' \
    got.json
check 'as many GPUs as the file has' test "$(jq '[.chips[].chip_ids[]]|length' got.json)" = \
    "$(grep -cE '^ *GPUId\(' mesa/src/freedreno/common/freedreno_devices.py)"
check 'an old number' test "$(chip FD650)" = \
    '{"name":"FD650","chip_ids":["0x060500ff"],"generation":"A6XX","quirks":[]}'
check 'ids with and without speed bin' test "$(chip FD740 | jq -c .chip_ids)" = \
    '["0x070400ff","0x43050a01","0xffff43050a01"]'
check 'a name in words' test "$(chip 'Adreno X1-85' | jq -r .generation)" = A7XX
check 'a name that disagrees with its id is noted' grep -q '0x07030002 is called FD725' notes

"$TURNPIKE" patch mesa --target host >/dev/null
"$TURNPIKE" chips mesa --json got.json >table 2>/dev/null
check 'patched: the A730 has no early preamble' json_holds \
    '.chips[]|select(.name == "FD730").quirks|index("has_early_preamble = False")' got.json
check 'patched: the A740 has the UBWC hint' json_holds \
    '.chips[]|select(.name == "FD740").quirks|index("enable_tp_ubwc_flag_hint = True")' got.json
check 'patched: the FDA32 has not' json_holds '.chips[]|select(.name == "FDA32").quirks == []' got.json
check 'the table says so, too' grep -qE '^FD730 .*has_early_preamble = False' table

cp -r "$TP_SRC/tests/factory/edit/eras/main" era
"$TURNPIKE" patch era --target host >/dev/null
"$TURNPIKE" chips era --json got.json >/dev/null 2>&1
check 'A8xx: the A810 by its KGSL id, without GMEM' json_holds \
    '.chips[]|select(.name == "Adreno (TM) 810")|(.chip_ids|index("0x44010000")) != null and (.quirks|index("disable_gmem = True")) != null' \
    got.json
check 'A8xx: the A825 is there' json_holds '.chips[]|select(.name == "Adreno (TM) 825").generation == "A8XX"' got.json

printf 'add_gpus([GPUId(650), GPUId(chip_id = 0x060500ff, name = "FD651")], A6xxGPUInfo(CHIP.A6XX, [a]))\n' \
    >mesa/src/freedreno/common/freedreno_devices.py
"$TURNPIKE" chips mesa >/dev/null 2>notes
check 'two chips that claim one id are noted' grep -q '0x060500ff is claimed by FD650 and by FD651' notes
echo x >mesa/src/freedreno/common/freedreno_devices.py
"$TURNPIKE" chips mesa >/dev/null 2>notes
check 'a tree without the table: exit status 2' test $? -eq 2
mkdir other
"$TURNPIKE" chips other >/dev/null 2>notes
check 'a folder of something else: exit status 2' test $? -eq 2
check 'it is no tree of Mesa' grep -q 'other: is no tree of Mesa' notes
printf 'add_gpus([GPUId(chip_id = 0x02zz00ff, name = "FD200")], A6xxGPUInfo(CHIP.A6XX, [a]))\n' \
    >mesa/src/freedreno/common/freedreno_devices.py
"$TURNPIKE" chips mesa >/dev/null 2>notes
check 'an id that is no number: exit status 2' test $? -eq 2
check 'it is named' grep -q '0x02zz00ff is no number' notes
"$TURNPIKE" chips notes >/dev/null 2>&1
check 'neither a tree nor a driver: exit status 2' test $? -eq 2
"$TURNPIKE" chips "$TURNPIKE" >/dev/null 2>notes
check 'a file without the note: exit status 1' test $? -eq 1
tap_close
