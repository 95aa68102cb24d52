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

# The document, with each table as it is printed now.
renew() {
    local line name=
    while IFS= read -r line; do
        if [[ $line == '<!-- table: '* ]]; then
            name=${line#'<!-- table: '}
            printf '%s\n\n' "$line"
            print_table "${name%' -->'}" || return 1
            printf '\n'
        elif [[ $line == '<!-- end -->' ]]; then
            name=
        fi
        [[ -n $name ]] || printf '%s\n' "$line"
    done <"$doc"
}

if [[ ! -x $built/world_tables ]]; then
    echo 'the tables have not been built'
    exit 1
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
if ! renew >"$new"; then
    echo 'not ok - the tables of docs/pacing.md can be printed'
elif [[ ${1-} == --write ]]; then
    cat "$new" >"$doc"
elif diff "$doc" "$new"; then
    echo 'ok - the tables of docs/pacing.md are what the programs print'
else
    echo 'not ok - the tables of docs/pacing.md are what the programs print: pacing.test.sh --write'
fi
