#!/bin/bash
# The patch set on fixtures shaped like other eras of Mesa: the states that are expected there.
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
for era in "$TP_SRC"/tests/factory/edit/eras/*/; do
    name=$(basename "$era")
    while read -r target variant; do
        rm -rf "$TP_TMP/work"
        cp -r "$era" "$TP_TMP/work"
        "$TURNPIKE" patch "$TP_TMP/work" --target "$target" --variant "$variant" \
            --json "$TP_TMP/got.json" >"$TP_TMP/table"
        tap $? "$name, $target, $variant: clean"
        jq -S '[.patches[]|{(.id): .state}]|add' "$TP_TMP/got.json" >"$TP_TMP/got"
        jq -S --arg t "$target" --arg v "$variant" '.[$t][$v]' "$era/expected.json" >"$TP_TMP/want"
        check "$name, $target, $variant: the expected states" diff "$TP_TMP/want" "$TP_TMP/got"
        "$TURNPIKE" patch "$TP_TMP/work" --target "$target" --variant "$variant" \
            --json "$TP_TMP/again.json" >/dev/null
        jq -S '[.patches[]|{(.id): .state}]|add' "$TP_TMP/again.json" >"$TP_TMP/again"
        sed -i 's/"applied"/"already"/' "$TP_TMP/want"
        check "$name, $target, $variant: already there the second time" \
            diff "$TP_TMP/want" "$TP_TMP/again"
        "$TURNPIKE" patch "$TP_TMP/work" --revert >/dev/null
        check "$name, $target, $variant: reverted" diff -r "$era" "$TP_TMP/work"
    done < <(jq -r 'to_entries[]|.key as $t|.value|keys[]|"\($t) \(.)"' "$era/expected.json")
done
tap_close
