#!/bin/bash
# The tables of docs/pacing.md are what the programs print now.
#
#     tests/frames/world/pacing.test.sh --write     puts them there
set -uo pipefail
src=${TP_SRC-$(cd "$(dirname "$0")/../../.." && pwd)}
built=$(dirname "${TURNPIKE-$src/build/turnpike}")/tests/frames/world
doc=$src/docs/pacing.md
unset TURNPIKE_TRACES

print_table() { # name
    case $1 in
    question | latency | tears | composed) "$built/world_tables" "$1" ;;
    mistakes)
        printf '| mistake | what broke | frames until then |\n|---|---|--:|\n'
        "$built/world_test" 2>/dev/null | grep '^| '
        ;;
    late) "$built/world_traces_test" | sed -n '/oracle late/,/^$/p' | grep '^|' ;;
    change) "$built/world_traces_test" | sed -n '/no pacing/,$p' | grep '^|' ;;
    *) return 1 ;;
    esac
}

if [[ ! -x $built/world_tables ]]; then
    echo 'the tables have not been built'
    exit 1
fi
. "$src/tests/scripts/tables.sh"

for name in question latency tears composed late change mistakes; do
    if [[ ${1-} == --write ]]; then
        table_write "$doc" "$name" print_table "$name"
    elif table_is_fresh "$doc" "$name" print_table "$name"; then
        echo "ok - docs/pacing.md: the table of $name is what the programs print"
    else
        echo "not ok - docs/pacing.md: the table of $name is not what the programs print (pacing.test.sh --write)"
    fi
done
