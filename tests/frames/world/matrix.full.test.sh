#!/bin/bash
# Ten million frames in every pair of settings, with costs from seeds and, where TURNPIKE_TRACES has
# them, with each recording: no invariant broken in any.
#
#     tests/frames/world/matrix.full.test.sh --write     renews docs/matrix.md
# timeout: 900
set -uo pipefail
src=${TP_SRC-$(cd "$(dirname "$0")/../../.." && pwd)}
matrix=$(dirname "${TURNPIKE-$src/build/turnpike}")/tests/frames/world/world_matrix_test
doc=$src/docs/matrix.md
if [[ ! -x $matrix ]]; then
    echo 'the matrix has not been built'
    exit 1
fi

. "$src/tests/scripts/mesa.sh"
. "$src/tests/scripts/tables.sh"

print_table() {
    "$matrix" --table 2>/dev/null
}

print_special() {
    "$matrix" --special
}

write() { # name
    table_write "$doc" "$1" print_table
}

do_all=check_all
check_all() { # name, in words
    check "ten million frames in every pair of settings, $2: nothing broke" "$matrix" --total 10000000
    check "docs/matrix.md is up to date, $2 (else: matrix.full.test.sh --write)" \
        table_is_fresh "$doc" "$1" print_table
}
[[ ${1-} != --write ]] || do_all=write

recordings=${TURNPIKE_TRACES-}
unset TURNPIKE_TRACES
if [[ ${1-} == --write ]]; then
    table_write "$doc" special print_special
else
    check 'docs/matrix.md says which pairs cannot be' table_is_fresh "$doc" special print_special
fi
$do_all seeds 'costs from seeds'
if [[ -n $recordings ]]; then
    export TURNPIKE_TRACES=$recordings
    $do_all recordings 'recorded costs'
else
    echo '# no TURNPIKE_TRACES: costs from seeds alone'
fi
[[ ${1-} == --write ]] || tap_close
