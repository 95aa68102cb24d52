#!/bin/bash
# The captures of docs/examples: report still reads them, and its words name what is in them.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
read_example() {
    "$TURNPIKE" report "$TP_SRC/docs/examples/$1.cap" -o "$1.html" --json "$1.json" >said
}
for name in healthy tear; do
    check "$name: read" read_example $name
done
check 'healthy: says so' json_holds '.verdict | test("^Healthy")' healthy.json
check 'healthy: nothing to try' json_holds '[.findings[] | select(.severity != "note")] == []' healthy.json
check 'tear: each is counted' json_holds '.tears == 4' tear.json
check 'tear: the cause comes first' json_holds '.findings[0].id == "tears-fences-off"' tear.json
check 'tear: what else was planted is named' \
    json_holds '[.findings[].id] | index("held") and index("cap-beats")' tear.json
tap_close
