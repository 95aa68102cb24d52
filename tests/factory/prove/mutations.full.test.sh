#!/bin/bash
# Each patch's absence is noticed by prove, and blamed on that patch alone.
# timeout: 7200
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
mesa=$(mesa_pristine) || exit
"$TP_SRC/tests/scripts/mutations" --work "$(build_folder)/mutations" --mesa "$mesa" >"$TP_TMP/log" 2>&1
status=$?
while IFS= read -r line; do
    case $line in
    *': noticed: '* | *': proved: '* | *': cannot be seen: '*) tap 0 "$line" ;;
    *' blamed**: '*) tap 1 "$line" ;;
    *) printf '# %s\n' "$line" ;;
    esac
done <"$TP_TMP/log"
tap "$status" 'nothing goes unnoticed'
tap_close
