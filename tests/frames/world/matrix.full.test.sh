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

check() { # name, command...
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
    fi
}

# What stands between the lines "<!-- table: NAME -->" and "<!-- end -->".
part() { # name
    sed -n "/<!-- table: $1 -->/,/<!-- end -->/p" "$doc" | grep '^|'
}

is_fresh() { # name
    diff <("$matrix" --table 2>/dev/null) <(part "$1")
}

write() { # name
    local new
    new=$(mktemp)
    "$matrix" --table 2>/dev/null >"$new.table" || exit 1
    sed -e "/<!-- table: $1 -->/,/<!-- end -->/{/^|/d;/^$/d}" "$doc" |
        sed -e "/<!-- table: $1 -->/{
            a\\

            r $new.table
            a\\

        }" >"$new"
    cat "$new" >"$doc"
    rm -f "$new" "$new.table"
}

do_all=check_all
check_all() { # name, in words
    check "ten million frames in every pair of settings, $2: nothing broke" "$matrix" --total 10000000
    check "docs/matrix.md is up to date, $2 (else: matrix.full.test.sh --write)" is_fresh "$1"
}
[[ ${1-} != --write ]] || do_all=write

recordings=${TURNPIKE_TRACES-}
unset TURNPIKE_TRACES
$do_all seeds 'costs from seeds'
if [[ -n $recordings ]]; then
    export TURNPIKE_TRACES=$recordings
    $do_all recordings 'recorded costs'
else
    echo '# no TURNPIKE_TRACES: costs from seeds alone'
fi
