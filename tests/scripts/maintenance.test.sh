#!/bin/bash
# MAINTENANCE.md is what tools/maintenance writes: a patch, a state, a target or an action that changed
# makes it stale.
# timeout: 600
set -uo pipefail
. "$(dirname "$0")/mesa.sh"
pristine=$(mesa_pristine) || exit
cd "$TP_SRC" || exit 2


tools/maintenance "$pristine" >"$TP_TMP/now"
check 'it is written' test $? -eq 0
check 'MAINTENANCE.md is what tools/maintenance writes' diff MAINTENANCE.md "$TP_TMP/now"
for file in patches/*.edit; do
    id=$(sed -nE 's/^patch +//p' "$file")
    grep -qE "^\| $id \|" MAINTENANCE.md || missing=$id
done
check 'every patch is in it' test -z "${missing-}"
check 'no state is unknown' test -z "$(sed -n '/^## Patches/,/^Switched off/p' MAINTENANCE.md | grep '^|.*–')"
while IFS= read -r link; do
    [[ -e $link ]] || dead=$link
done < <(grep -oE '\]\([^)]*\)' MAINTENANCE.md | tr -d '])(')
check 'its links lead somewhere' test -z "${dead-}"

# Stale once a patch's title changes.
cp -r patches tools src tests .github "$TP_TMP/" 2>/dev/null
sed -i 's/^title .*/title     Something else/' "$TP_TMP/patches/60-power-max.edit"
"$TP_TMP/tools/maintenance" "$pristine" >"$TP_TMP/other"
check 'a change in a patch makes it stale' test "$(diff MAINTENANCE.md "$TP_TMP/other" | grep -c '^>')" -eq 1
tap_close
