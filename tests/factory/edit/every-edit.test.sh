#!/bin/bash
# Every edit of every patch, in turn: its anchor deleted, altered, duplicated; its neighbours
# reordered; every file reformatted. On real Mesa 25.0.7 and on the fixtures of newer eras.
# timeout: 1500
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
tool=$(build_folder)/tests/factory/edit/every_edit
pristine=$(mesa_pristine) || exit
mesa_parts "$pristine" "$TP_TMP/25.0.7"
for era in "$TP_SRC"/tests/factory/edit/eras/*/; do
    cp -r "$era" "$TP_TMP/$(basename "$era")"
done
cd "$TP_TMP" || exit 2
status=0
for tree in */; do
    for target in host host-android; do
        # b and p share all but two patches' edits: b is tried on one target
        for variant in p b; do
            [[ $variant$target != bhost-android ]] || continue
            cp -r "$tree" work
            "$tool" work "$TP_SRC/patches" $target $variant 1 >log || status=1
            sed -nE "s#^(not ok|ok) [0-9]+ - #\1 - ${tree%/}, $target, $variant: #p" log
            rm -rf work
        done
    done
done
exit $status
